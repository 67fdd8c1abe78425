#include "kernels/cuda/ptx/coverage_map.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace warpfuzz::ptx {
namespace {

constexpr std::array<const char*, 5> kind_names = {"entry", "label", "fall-through",
                                                   "predicate-false", "predicate-true"};

CounterKind kind_named(const std::string& text) {
  for (size_t i = 0; i < kind_names.size(); ++i) {
    if (text == kind_names[i]) return static_cast<CounterKind>(i);
  }
  throw std::runtime_error("coverage map: unknown kind of counter '" + text + "'");
}

}  // namespace

const char* name(CounterKind kind) { return kind_names[static_cast<size_t>(kind)]; }

std::string CoverageMap::to_json() const {
  nlohmann::ordered_json json;
  json["counters"] = nlohmann::ordered_json::array();
  for (const Counter& counter : counters) {
    json["counters"].push_back({{"function", counter.function},
                                {"file", counter.file},
                                {"line", counter.line},
                                {"kind", name(counter.kind)},
                                {"ordinal", counter.ordinal},
                                {"comparison", counter.comparison}});
  }
  json["constants"] = nlohmann::ordered_json::array();
  for (const Constant& constant : constants) {
    json["constants"].push_back(
        {{"bits", constant.bits}, {"bytes", constant.bytes}, {"floating", constant.floating}});
  }
  json["files"] = files;
  json["lines"] = nlohmann::ordered_json::array();
  for (const CoveredLine& line : lines) json["lines"].push_back({line.slot, line.file, line.line});
  // The names come from a file that need not be UTF-8.
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

CoverageMap CoverageMap::from_json(const std::string& text) {
  CoverageMap map;
  try {
    const auto json = nlohmann::json::parse(text);
    for (const auto& entry : json.at("counters")) {
      map.counters.push_back({entry.at("function"), entry.at("file"), entry.at("line"),
                              kind_named(entry.at("kind")), entry.at("ordinal"),
                              entry.at("comparison")});
    }
    for (const auto& entry : json.at("constants")) {
      map.constants.push_back({entry.at("bits"), entry.at("bytes"), entry.at("floating")});
    }
    map.files = json.at("files").get<std::vector<std::string>>();
    for (const auto& entry : json.at("lines")) {
      const CoveredLine line = {entry.at(0), entry.at(1), entry.at(2)};
      if (line.slot >= map.counters.size() || line.file >= map.files.size()) {
        throw std::runtime_error("coverage map: a line of a counter or file that is not there");
      }
      map.lines.push_back(line);
    }
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(std::string("coverage map: ") + error.what());
  }
  return map;
}

std::string CoverageMap::to_dictionary() const {
  std::string text;
  for (const Constant& constant : constants) {
    text += '"';
    for (unsigned byte = 0; byte < constant.bytes; ++byte) {
      text += fmt::format("\\x{:02x}", constant.bits >> (8 * byte) & 0xff);
    }
    text += "\"\n";
  }
  return text;
}

}  // namespace warpfuzz::ptx
