#include "fuzzers/duration.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>

#include "fuzzers/installation.h"

namespace warpfuzz {

double parse_duration(const std::string& option, const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 5> units = {
      {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}}};
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, number);
  for (const auto& [name, seconds] : units) {
    if (error == std::errc() && number >= 0 && std::string_view(unit, end) == name) {
      return number * seconds;
    }
  }
  throw UsageError(
      fmt::format("{} {}: expected a duration such as 90s, 10m, 2h or 1d", option, text));
}

}  // namespace warpfuzz
