// Static shared memory per kernel, with that of the device functions that a kernel reaches. Read
// from LLVM's text of the module, because only the compiler knows sizes and calls.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpfuzz {

struct StaticSharedUse {
  std::string kernel;  // with parameters and template arguments
  std::string file;
  int line = 0;
  size_t bytes = 0;
  std::vector<std::string> variables;  // "tile (4096 bytes)", in the order of the text
};

// One entry per kernel that has any. `llvm_text` is of rewritten source, not optimised.
std::vector<StaticSharedUse> static_shared_use(std::string_view llvm_text);

}  // namespace warpfuzz
