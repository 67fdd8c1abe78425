// Turns preprocessed CUDA C++ into C++17 for the CPU device. It rewrites launches (`<<<...>>>`),
// shared-memory declarations and the CUDA qualifiers, into the forms that wf_simt.h states, and
// leaves everything else as it is. Works on tokens, not on a syntax tree: strings, comments and
// line markers are respected, so the compiler's messages keep the positions of the user's file.
//
// The qualifiers arrive as the words that <host_defines.h> maps them to (__wf_global__, ...), so
// `#ifdef __global__` works in user code and the rewriter still sees what a function is.
#pragma once

#include <string>
#include <string_view>

namespace warpfuzz {

// Throws CompileError ("file.cu:12: error: ...") for what the CPU device cannot run: inline PTX,
// texture references, launches from device code, clusters, initialisers of shared variables.
std::string rewrite_cuda(std::string_view preprocessed);

}  // namespace warpfuzz
