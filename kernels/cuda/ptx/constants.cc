#include "kernels/cuda/ptx/constants.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string>

namespace warpfuzz::ptx {
namespace {

struct ComparedType {
  std::string_view suffix;
  uint8_t bytes;
  bool floating;
};
constexpr std::array compared_types = {
    ComparedType{".b16", 2, false}, ComparedType{".b32", 4, false}, ComparedType{".b64", 8, false},
    ComparedType{".u16", 2, false}, ComparedType{".u32", 4, false}, ComparedType{".u64", 8, false},
    ComparedType{".s16", 2, false}, ComparedType{".s32", 4, false}, ComparedType{".s64", 8, false},
    ComparedType{".f16", 2, true},  ComparedType{".bf16", 2, true}, ComparedType{".f32", 4, true},
    ComparedType{".f64", 8, true}};

uint64_t low_bytes(uint64_t bits, uint8_t bytes) {
  return bytes >= 8 ? bits : bits & ((uint64_t{1} << (8 * bytes)) - 1);
}

std::optional<uint64_t> parse_digits(std::string_view digits, int base) {
  uint64_t value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value, base);
  if (error != std::errc() || end != last || digits.empty()) return std::nullopt;
  return value;
}

// 0f3F800000 and 0d3FF0000000000000: the bits of a float or double.
std::optional<Constant> parse_float_bits(std::string_view word) {
  const char form = word.size() > 2 ? word[1] : '\0';
  const bool single = form == 'f' || form == 'F';
  if (word[0] != '0' || (!single && form != 'd' && form != 'D')) return std::nullopt;
  if (word.size() != (single ? 10 : 18)) return std::nullopt;
  const auto bits = parse_digits(word.substr(2), 16);
  if (!bits) return std::nullopt;
  return Constant{*bits, static_cast<uint8_t>(single ? 4 : 8), true};
}

std::optional<Constant> parse_constant(std::string_view word, bool negative,
                                       const ComparedType& type) {
  if (word.empty() || word[0] < '0' || word[0] > '9') return std::nullopt;
  if (type.floating) {
    if (auto bits = parse_float_bits(word)) {
      if (negative) bits->bits ^= uint64_t{1} << (8 * bits->bytes - 1);
      return bits;
    }
    if (word.find('.') == word.npos || type.bytes < 4) return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    if (negative) value = -value;
    Constant constant{0, type.bytes, true};
    const auto single = static_cast<float>(value);
    if (type.bytes == 4) {
      std::memcpy(&constant.bits, &single, 4);
    } else {
      std::memcpy(&constant.bits, &value, 8);
    }
    return constant;
  }
  const auto value = parse_integer(word);
  if (!value) return std::nullopt;
  return Constant{low_bytes(negative ? 0 - *value : *value, type.bytes), type.bytes, false};
}

}  // namespace

std::optional<uint64_t> parse_integer(std::string_view word) {
  if (word.ends_with('U')) word.remove_suffix(1);
  if (word.size() > 2 && word[0] == '0') {
    if (word[1] == 'x' || word[1] == 'X') return parse_digits(word.substr(2), 16);
    if (word[1] == 'b' || word[1] == 'B') return parse_digits(word.substr(2), 2);
  }
  if (word.size() > 1 && word[0] == '0') return parse_digits(word.substr(1), 8);
  return parse_digits(word, 10);
}

std::vector<Constant> comparison_constants(const Statement& statement) {
  std::vector<Constant> constants;
  if (!statement.opcode.starts_with("setp.") && !statement.opcode.starts_with("set."))
    return constants;
  const auto type =
      std::find_if(compared_types.begin(), compared_types.end(),
                   [&](const ComparedType& t) { return statement.opcode.ends_with(t.suffix); });
  if (type == compared_types.end()) return constants;
  for (size_t i = 1; i < statement.operands.size(); ++i) {
    const Token& token = statement.operands[i];
    if (token.kind != TokenKind::word) continue;
    const bool negative = statement.operands[i - 1].is("-");
    if (const auto constant = parse_constant(token.text, negative, *type)) {
      constants.push_back(*constant);
    }
  }
  return constants;
}

}  // namespace warpfuzz::ptx
