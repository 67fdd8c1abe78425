// The executable addresses of a kernel object.
#pragma once

#include <cstdint>

namespace warpfuzz::simt {

struct CodeRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool contains(uintptr_t pc) const { return pc >= begin && pc < end; }
};

}  // namespace warpfuzz::simt
