// Splits preprocessed CUDA C++ into tokens for the rewriter. Only what the rewriter needs: words,
// numbers and literals are whole, every other character is a token of its own (so `<<<` is three
// tokens and `A<B<int>>` closes with two). Comments and white space are no tokens. Directives
// (line markers and pragmas), which may stand in the middle of an expression, are kept apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpfuzz {

enum class CudaTokenKind : uint8_t { word, number, literal, symbol };

struct CudaToken {
  CudaTokenKind kind = CudaTokenKind::symbol;
  size_t begin = 0;  // byte offsets in the text
  size_t end = 0;
};

// A range from `#` to the end of its line.
struct Directive {
  size_t begin = 0;
  size_t end = 0;
};

struct CudaTokens {
  std::vector<CudaToken> tokens;
  std::vector<Directive> directives;
};
CudaTokens tokenize_cuda(std::string_view text);

// What the line markers up to a token say. `line` is that of the line after the marker.
struct SourceMarker {
  size_t marker_end = 0;  // offset in the text just after the marker
  std::string file;
  int line = 1;
  bool system_header = false;
  bool enters_include = false;
  bool leaves_include = false;
};

// True and fills `marker` if the directive is a line marker: # 12 "file.cu" 1 3 or #line 12 "file".
bool parse_line_marker(std::string_view text, const Directive& directive, SourceMarker& marker);

// The line in the user's file of an offset after `marker`.
int line_of(std::string_view text, const SourceMarker& marker, size_t offset);

}  // namespace warpfuzz
