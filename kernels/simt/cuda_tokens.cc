#include "kernels/simt/cuda_tokens.h"

#include <algorithm>

namespace warpfuzz {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  CudaTokens run() {
    CudaTokens result;
    result.tokens.reserve(text_.size() / 4);
    while (skip_blank()) {
      const size_t begin = at_;
      if (peek() == '#' && line_start_) {
        at_ = std::min(text_.find('\n', at_), text_.size());
        result.directives.push_back({begin, at_});
      } else {
        result.tokens.push_back({read(), begin, 0});
        result.tokens.back().end = at_;
      }
      line_start_ = false;
    }
    return result;
  }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void skip_until(std::string_view end) {
    const size_t found = text_.find(end, at_);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  // False at the end of the text.
  bool skip_blank() {
    while (at_ < text_.size()) {
      if (is_space(peek())) {
        line_start_ = line_start_ || peek() == '\n';
        ++at_;
      } else if (peek() == '/' && peek(1) == '*') {
        at_ += 2;
        skip_until("*/");
      } else if (peek() == '/' && peek(1) == '/') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return true;
      }
    }
    return false;
  }

  CudaTokenKind read() {
    const char c = peek();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return read_number();
    if (c == '"' || c == '\'') return read_quoted();
    if (is_word(c)) return read_word();
    ++at_;
    return CudaTokenKind::symbol;
  }

  // A preprocessing number: 1'000, 0x1p-3f, 1e+5.
  CudaTokenKind read_number() {
    while (at_ < text_.size()) {
      const char c = peek();
      const char next = peek(1);
      if ((c == 'e' || c == 'E' || c == 'p' || c == 'P') && (next == '+' || next == '-')) {
        at_ += 2;
      } else if (is_word(c) || c == '.' || (c == '\'' && is_word(next))) {
        ++at_;
      } else {
        break;
      }
    }
    return CudaTokenKind::number;
  }

  CudaTokenKind read_quoted() {
    const char quote = peek();
    ++at_;
    while (at_ < text_.size() && peek() != quote && peek() != '\n') at_ += peek() == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
    return CudaTokenKind::literal;
  }

  CudaTokenKind read_word() {
    const size_t begin = at_;
    while (is_word(peek()) && at_ < text_.size()) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (peek() == '"' &&
        (word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R")) {
      const size_t open = text_.find('(', at_);
      if (open == std::string_view::npos) return read_quoted();
      const std::string end = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
      at_ = open;
      skip_until(end);
      return CudaTokenKind::literal;
    }
    const bool prefix = word == "L" || word == "u" || word == "U" || word == "u8";
    if (prefix && (peek() == '"' || peek() == '\'')) return read_quoted();
    return CudaTokenKind::word;
  }

  std::string_view text_;
  size_t at_ = 0;
  bool line_start_ = true;
};

}  // namespace

CudaTokens tokenize_cuda(std::string_view text) { return Tokenizer(text).run(); }

bool parse_line_marker(std::string_view text, const Directive& directive, SourceMarker& marker) {
  std::string_view rest = text.substr(directive.begin + 1, directive.end - directive.begin - 1);
  const auto skip_spaces = [&] {
    while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
  };
  skip_spaces();
  if (rest.starts_with("line")) rest.remove_prefix(4);
  skip_spaces();
  if (rest.empty() || !is_digit(rest.front())) return false;
  int line = 0;
  for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1)) {
    line = std::min(line, 100'000'000) * 10 + (rest.front() - '0');
  }
  marker.line = line;
  marker.marker_end = std::min(directive.end + 1, text.size());
  skip_spaces();
  if (rest.empty() || rest.front() != '"') return true;  // #line 12 keeps the file
  rest.remove_prefix(1);
  marker.file.clear();
  for (; !rest.empty() && rest.front() != '"'; rest.remove_prefix(1)) {
    if (rest.front() == '\\' && rest.size() > 1) rest.remove_prefix(1);
    marker.file += rest.front();
  }
  marker.enters_include = rest.starts_with("\" 1");
  marker.leaves_include = rest.starts_with("\" 2");
  marker.system_header = rest.find(" 3") != std::string_view::npos;
  return true;
}

int line_of(std::string_view text, const SourceMarker& marker, size_t offset) {
  if (offset <= marker.marker_end) return marker.line;
  const std::string_view between = text.substr(marker.marker_end, offset - marker.marker_end);
  return marker.line + static_cast<int>(std::count(between.begin(), between.end(), '\n'));
}

}  // namespace warpfuzz
