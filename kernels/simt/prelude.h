// Splits a preprocessed kernel source after its prelude: what it includes before its first line of
// its own, from headers that are not part of the kernel (CUDA's and the system's). Kernels with the
// same first includes share a prelude, which the compiler then needs to read only once.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace warpfuzz {

struct SplitSource {
  std::string prelude;  // does not name the kernel's file; empty if there is none
  std::string rest;     // begins with a line marker: positions stay those of the kernel's file
};

// `shared_headers`: what the paths of headers begin with that kernels share; system headers always
// count. The two parts, one after the other, are the text.
SplitSource split_prelude(std::string_view preprocessed,
                          std::span<const std::string> shared_headers);

}  // namespace warpfuzz
