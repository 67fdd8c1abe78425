#include "kernels/source_constants.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "kernels/simt/cuda_tokens.h"

namespace warpfuzz {
namespace {

constexpr int64_t smallest = 3;
constexpr int64_t largest = int64_t{1} << 31;

// The value of an integer literal; nothing for floating-point ones and what is out of range.
std::optional<int64_t> integer_value(std::string digits) {
  std::erase(digits, '\'');
  int base = 10;
  size_t begin = 0;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
    base = 16;
    begin = 2;
  }
  int64_t value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data() + begin, last, value, base);
  const bool suffix_only =
      std::all_of(end, last, [](char c) { return c == 'u' || c == 'U' || c == 'l' || c == 'L'; });
  if (error != std::errc() || !suffix_only || !is_telling_constant(value)) {
    return std::nullopt;
  }
  return value;
}

void collect(std::string_view text, std::vector<int64_t>& constants) {
  const CudaTokens parsed = tokenize_cuda(text);
  for (const Directive& directive : parsed.directives) {
    std::string_view line = text.substr(directive.begin, directive.end - directive.begin);
    line.remove_prefix(std::min(line.find_first_not_of("# \t"), line.size()));
    if (line.starts_with("define")) collect(line, constants);
  }
  for (const CudaToken& token : parsed.tokens) {
    if (constants.size() == max_integer_constants) return;
    if (token.kind != CudaTokenKind::number) continue;
    const auto value =
        integer_value(std::string(text.substr(token.begin, token.end - token.begin)));
    if (!value || std::find(constants.begin(), constants.end(), *value) != constants.end()) {
      continue;
    }
    constants.push_back(*value);
  }
}

}  // namespace

bool is_telling_constant(int64_t value) { return value >= smallest && value <= largest; }

std::vector<int64_t> integer_constants(std::string_view source) {
  std::vector<int64_t> constants;
  collect(source, constants);
  return constants;
}

}  // namespace warpfuzz
