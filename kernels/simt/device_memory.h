// Memory that programs get from cudaMalloc and its kin: what is allocated, and which allocation an
// address belongs to or missed. Copies and fills of the host API check against it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/simt/address_range.h"

namespace warpfuzz::simt {

// Values of cudaMemoryType.
enum class MemoryType : int { unregistered = 0, host = 1, device = 2, managed = 3 };

struct Allocation {
  uintptr_t begin = 0;
  size_t bytes = 0;
  MemoryType type = MemoryType::unregistered;
  bool freed = false;
  uintptr_t owner = 0;  // where the code begins of the object that allocated it
};

// The allocation whose bytes lie nearest to the address, also one that was freed and whose
// addresses have not been given out again; nullptr if none is within 4 KiB.
const Allocation* nearest_allocation(uintptr_t address);

// Frees what code in this range has allocated and not freed.
void free_allocations_of(const AddressRange& code);

}  // namespace warpfuzz::simt
