// Rewrites one declaration with __shared__. Static arrays become static variables in the section
// .wfshared, each followed by its SharedRecord; `extern __shared__` becomes a reference into the
// dynamic arena.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/simt/cuda_tokens.h"

namespace warpfuzz {

struct Edit {
  size_t begin = 0;  // byte range of the text that `replacement` takes the place of
  size_t end = 0;
  std::string replacement;
};

// The line breaks and directives of a byte range: what must stay when the rest of it goes.
std::string line_structure(std::string_view text, std::span<const Directive> directives,
                           size_t begin, size_t end);

struct SharedDeclaration {
  std::vector<Edit> edits;
  std::string error;  // not empty: why it is refused
};

// `keyword` is the token __wf_shared__.
SharedDeclaration rewrite_shared(std::string_view text, const CudaTokens& tokens, size_t keyword,
                                 bool at_namespace_scope);

}  // namespace warpfuzz
