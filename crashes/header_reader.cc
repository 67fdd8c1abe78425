#include "crashes/header_reader.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "crashes/reproducer_error.h"

namespace warpfuzz {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::array<std::pair<std::string_view, double>, 3> not_finite = {{
    {"nan", std::numeric_limits<double>::quiet_NaN()},
    {"inf", infinity},
    {"-inf", -infinity},
}};

// What was found, short enough for a message whatever a hostile file holds.
std::string summary(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  constexpr size_t longest = 40;
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

}  // namespace

Json real_to_json(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

HeaderReader HeaderReader::operator[](const char* key) const {
  if (!value_.is_object()) refuse("an object");
  const auto found = value_.find(key);
  if (found == value_.end()) {
    throw ReproducerError(fmt::format("{}: key \"{}\" is missing", path_, key));
  }
  return HeaderReader(*found, fmt::format("{}.{}", path_, key));
}

std::vector<HeaderReader> HeaderReader::elements() const {
  if (!value_.is_array()) refuse("an array");
  std::vector<HeaderReader> readers;
  for (const Json& element : value_) {
    readers.emplace_back(element, fmt::format("{}[{}]", path_, readers.size()));
  }
  return readers;
}

std::string HeaderReader::string() const {
  if (!value_.is_string()) refuse("a string");
  return value_.get<std::string>();
}

double HeaderReader::real() const {
  if (value_.is_number()) return value_.get<double>();
  for (const auto& [text, number] : not_finite) {
    if (value_ == text) return number;
  }
  refuse("a number, \"nan\", \"inf\" or \"-inf\"");
}

int64_t HeaderReader::integer(int64_t minimum, int64_t maximum) const {
  // Positive numbers are stored unsigned and may exceed int64.
  const bool fits = value_.is_number_integer() &&
                    (!value_.is_number_unsigned() ||
                     value_.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()});
  const int64_t number = fits ? value_.get<int64_t>() : 0;
  if (!fits || number < minimum || number > maximum) {
    refuse(fmt::format("an integer in [{}, {}]", minimum, maximum));
  }
  return number;
}

uint64_t HeaderReader::natural() const {
  if (!value_.is_number_unsigned()) refuse("an integer of at least 0");
  return value_.get<uint64_t>();
}

void HeaderReader::refuse(std::string_view expected) const {
  throw ReproducerError(fmt::format("{}: found {}, expected {}", path_, summary(value_), expected));
}

}  // namespace warpfuzz
