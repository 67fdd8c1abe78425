#include "kernels/cuda/ptx/token.h"

#include <algorithm>

namespace warpfuzz::ptx {
namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%' || c == '.';
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<Token> scan() {
    while (skip_blanks()) {
      const size_t begin = at_;
      const size_t line = line_;
      const TokenKind kind = take();
      tokens_.push_back({kind, begin, at_, line, text_.substr(begin, at_ - begin)});
    }
    return std::move(tokens_);
  }

 private:
  // White space, comments and lines of a preprocessor; false at the end of the text.
  bool skip_blanks() {
    while (at_ < text_.size()) {
      if (is_space(text_[at_])) {
        advance(1);
      } else if (text_.substr(at_).starts_with("//") || text_[at_] == '#') {
        advance(std::min(text_.find('\n', at_), text_.size()) - at_);
      } else if (text_.substr(at_).starts_with("/*")) {
        const size_t end = text_.find("*/", at_ + 2);
        if (end == text_.npos) throw PtxError(line_, "comment without end");
        advance(end + 2 - at_);
      } else {
        return true;
      }
    }
    return false;
  }

  TokenKind take() {
    if (text_[at_] == '"') {
      const size_t start_line = line_;
      size_t end = at_ + 1;
      while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
      if (end >= text_.size()) throw PtxError(start_line, "string without end");
      advance(end + 1 - at_);
      return TokenKind::string;
    }
    if (!is_word_character(text_[at_])) {
      advance(1);
      return TokenKind::punctuation;
    }
    size_t end = at_ + 1;
    for (; end < text_.size(); ++end) {
      if (is_word_character(text_[end])) continue;
      if (!text_.substr(end).starts_with("::")) break;
      ++end;
    }
    advance(end - at_);
    return TokenKind::word;
  }

  void advance(size_t count) {
    line_ += static_cast<size_t>(
        std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                   text_.begin() + static_cast<std::ptrdiff_t>(at_ + count), '\n'));
    at_ += count;
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

PtxError::PtxError(size_t line, const std::string& message)
    : std::runtime_error("line " + std::to_string(line) + ": " + message) {}

std::vector<Token> tokenize(std::string_view text) { return Scanner(text).scan(); }

}  // namespace warpfuzz::ptx
