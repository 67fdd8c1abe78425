// The tokens of a text with questions about them; every question about a token that does not exist
// has the answer "no". Shared by the parts of the rewriter.
#pragma once

#include <span>
#include <string_view>

#include "kernels/simt/cuda_tokens.h"

namespace warpfuzz {

class TokenView {
 public:
  TokenView(std::string_view text, std::span<const CudaToken> tokens)
      : text_(text), tokens_(tokens) {}

  std::string_view word(size_t i) const {
    return i < tokens_.size() ? text_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin)
                              : std::string_view();
  }
  bool is_symbol(size_t i, char c) const {
    return i < tokens_.size() && tokens_[i].kind == CudaTokenKind::symbol &&
           text_[tokens_[i].begin] == c;
  }
  bool is_word(size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == CudaTokenKind::word;
  }
  // Nothing stands between the token and the next one.
  bool adjacent(size_t i) const { return tokens_[i].end == tokens_[i + 1].begin; }
  // `<<<` or `>>>`; the last character may stand apart (`<< <`), as some editors format it.
  bool is_triple(size_t i, char c) const {
    return is_symbol(i, c) && is_symbol(i + 1, c) && is_symbol(i + 2, c) && adjacent(i);
  }
  // Index of the token that closes the bracket at `open`; the number of tokens if nothing does.
  size_t close_of(size_t open) const {
    int depth = 0;
    for (size_t i = open; i < tokens_.size(); ++i) {
      if (tokens_[i].kind != CudaTokenKind::symbol) continue;
      const char c = text_[tokens_[i].begin];
      if (c == '(' || c == '[' || c == '{') ++depth;
      if ((c == ')' || c == ']' || c == '}') && --depth == 0) return i;
    }
    return tokens_.size();
  }

 protected:
  std::string_view text_;
  std::span<const CudaToken> tokens_;
};

}  // namespace warpfuzz
