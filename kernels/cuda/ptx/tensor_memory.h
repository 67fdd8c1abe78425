// What a PTX function does with the tensor memory of Blackwell (tcgen05.alloc, dealloc and
// relinquish_alloc_permit), from its text alone. Accuses only what fails whenever it is executed:
// a register that may hold several values, a branch, a barrier or a call between two allocations
// make their sum unknown, never wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/ptx/module.h"

namespace warpfuzz::ptx {

inline constexpr uint32_t tensor_columns = 512;  // of a multiprocessor

struct Problem {
  size_t text_line = 0;  // of the PTX
  SourceLine source;     // as the compiler says; line 0: not known
  std::string message;   // without position
};

struct TensorAllocation {
  const Statement* statement = nullptr;
  std::optional<uint64_t> columns;  // empty: unknown
};

struct TensorMemoryUse {
  std::vector<TensorAllocation> allocations;  // in the order of the text
  bool frees = false;                         // some tcgen05.dealloc
  std::vector<Problem> problems;              // of single functions: columns and order
};

TensorMemoryUse tensor_memory_use(const Function& function);

}  // namespace warpfuzz::ptx
