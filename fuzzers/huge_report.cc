#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fuzzers/huge.h"
#include "fuzzers/installation.h"
#include "gates/gate.h"

namespace warpfuzz {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string huge_text(const HugeVerdict& v, const std::string& kernel, const std::string& again) {
  std::string text = fmt::format("#{} {}: {}\n   ", v.number, describe(v.call.c), v.call.about);
  switch (v.outcome) {
    case HugeOutcome::pass:
      text += v.every_element
                  ? fmt::format("pass: all {} elements judged, {} rows on the host as well",
                                v.elements, v.rows)
                  : fmt::format("pass: {} rows of {} elements judged", v.rows,
                                v.elements / std::max<size_t>(v.rows, 1));
      if (v.undecided > 0) text += fmt::format(" ({} elements undecided)", v.undecided);
      return text + fmt::format(", {:.1f} s\n", v.seconds);
    case HugeOutcome::undecided:
    case HugeOutcome::not_exercised:
      return text + fmt::format("{}: {}\n", name(v.outcome), v.reason);
    case HugeOutcome::finding:
      break;
  }
  const Gate* const gate = find_gate(v.gate);
  text += fmt::format("{} {}: {}\n", v.gate, gate != nullptr ? gate->title : "", v.reason);
  text += fmt::format("     kernel      {}\n", kernel);
  text += fmt::format("     call        {}\n", describe(v.call.c));
  for (const std::string& line : v.details) text += "     " + line + "\n";
  return text + fmt::format("     again       {}\n", again);
}

std::string huge_text(const HugeReport& r) {
  std::string text = fmt::format("{}: {} of {} calls exercised, {} findings", r.device_name,
                                 r.exercised, r.calls, r.findings);
  if (r.undecided > 0) text += fmt::format(", {} undecided", r.undecided);
  return text + "\n";
}

std::string huge_json(const HugeVerdict& v) {
  Json json = {{"number", v.number},         {"call", describe(v.call.c)},
               {"about", v.call.about},      {"largest_tensor", largest_size(v.call.c)},
               {"outcome", name(v.outcome)}, {"seconds", v.seconds}};
  if (!v.gate.empty()) json["gate"] = v.gate;
  if (!v.reason.empty()) json["reason"] = v.reason;
  if (!v.details.empty()) json["details"] = v.details;
  if (v.rows > 0) {
    json["rows"] = v.rows;
    json["every_element"] = v.every_element;
    json["elements"] = v.elements;
    json["undecided"] = v.undecided;
  }
  return json.dump() + "\n";
}

std::string huge_json(const HugeReport& r) {
  const Json json = {{"device", r.device_name},  {"calls", r.calls},
                     {"exercised", r.exercised}, {"findings", r.findings},
                     {"undecided", r.undecided}, {"warpfuzz", version()}};
  return json.dump() + "\n";
}

}  // namespace warpfuzz
