#include "fuzzers/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fuzzers/installation.h"
#include "gates/gate.h"

namespace warpfuzz {
namespace {

std::string number(double value) { return fmt::format("{:.9g}", value); }

std::string error_text(const EvidenceElement& e) {
  if (e.kind == "non_finite") return "";
  std::string text = fmt::format("  error {} ulp", number(std::round(e.ulps * 10) / 10));
  if (std::isfinite(e.ratio)) text += fmt::format(", {:.3g} x tolerance", e.ratio);
  return text;
}

std::string accepted_text(const EvidenceElement& e) {
  if (e.kind == "non_finite") return fmt::format("must be {}", number(e.expected));
  return fmt::format("accepted [{}, {}]", number(e.low), number(e.high));
}

}  // namespace

std::string describe_faults(const Evidence& evidence) {
  std::string text;
  for (const EvidenceFault& f : evidence.faults) {
    text +=
        fmt::format("  at          {}:{}  {}\n", f.file.empty() ? "?" : f.file, f.line, f.message);
    text += fmt::format("              block ({}), thread ({})\n", fmt::join(f.block, ","),
                        fmt::join(f.thread, ","));
  }
  return text;
}

std::string describe_finding(const Reproducer& r, const std::filesystem::path& file) {
  const Gate* gate = find_gate(r.gate);
  std::string text =
      fmt::format("{} {}: {}\n", r.gate, gate == nullptr ? "" : gate->title, r.evidence.reason);
  text += fmt::format("  kernel      {}\n",
                      r.kernel.path.empty() ? r.kernel.name : shown_path(r.kernel.path));
  text += fmt::format("  call        {}  (tier {})\n", r.description, static_cast<int>(r.tier));
  if (!r.evidence.output.empty()) {
    text +=
        fmt::format("  where       output {}: {}; {} element{} wrong\n", r.evidence.output,
                    r.evidence.pattern, r.evidence.offending, r.evidence.offending == 1 ? "" : "s");
  }
  for (const EvidenceElement& e : r.evidence.elements) {
    text += fmt::format("  {}[{}]", r.evidence.output, fmt::join(e.index, ","));
    text +=
        fmt::format("  observed {}  {}{}\n", number(e.observed), accepted_text(e), error_text(e));
  }
  if (!r.evidence.quantisation.empty()) {
    text += fmt::format("  quantised   {}\n", r.evidence.quantisation);
  }
  text += describe_faults(r.evidence);
  text += fmt::format("  signature   {}\n", r.signature);
  if (!file.empty()) {
    text += fmt::format("  reproducer  {}\n", shown_path(file));
    text += fmt::format("  replay      scripts/warpfuzz replay {}\n", shown_path(file));
  }
  return text;
}

std::string finding_json(const Reproducer& r, const std::filesystem::path& file) {
  nlohmann::ordered_json json;
  json["signature"] = r.signature;
  json["gate"] = r.gate;
  json["reproducer"] = file.string();
  json["tier"] = static_cast<int>(r.tier);
  json["op"] = r.op;
  json["call"] = r.description;
  json["reason"] = r.evidence.reason;
  json["output"] = r.evidence.output;
  json["pattern"] = r.evidence.pattern;
  json["offending"] = r.evidence.offending;
  return json.dump();
}

}  // namespace warpfuzz
