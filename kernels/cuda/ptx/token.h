// Tokens of PTX text. Tolerant: every byte belongs to a token, a comment or white space, and no
// instruction is known here. A word is an identifier, a register, a number, a directive or an
// opcode with its modifiers ("cp.async.bulk.shared::cluster"); everything else is one character or
// a string.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpfuzz::ptx {

// Text that cannot be PTX; what() begins with "line 12: ".
class PtxError : public std::runtime_error {
 public:
  PtxError(size_t line, const std::string& message);
};

enum class TokenKind : uint8_t { word, string, punctuation };

struct Token {
  TokenKind kind = TokenKind::word;
  size_t begin = 0;  // byte offsets in the text
  size_t end = 0;
  size_t line = 1;
  std::string_view text;  // views the text given to tokenize()

  bool is(std::string_view expected) const { return text == expected && kind != TokenKind::string; }
};

// Throws PtxError for a comment or string without end.
std::vector<Token> tokenize(std::string_view text);

}  // namespace warpfuzz::ptx
