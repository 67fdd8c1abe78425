// Addresses from `begin` up to `end`.
#pragma once

#include <cstdint>

namespace warpfuzz::simt {

struct AddressRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool contains(uintptr_t address) const { return address >= begin && address < end; }
};

}  // namespace warpfuzz::simt
