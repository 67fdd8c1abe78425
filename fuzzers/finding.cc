#include "fuzzers/finding.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

#include "crashes/pattern.h"
#include "crashes/symptom.h"
#include "fuzzers/installation.h"
#include "reference/number_format.h"
#include "seeds/value_law.h"

namespace warpfuzz {
namespace {

constexpr size_t max_evidence_elements = 8;

constexpr std::array<std::string_view, 3> offence_kinds = {"value", "non_finite", "subnormal"};

std::vector<int64_t> unravel(const std::vector<int64_t>& shape, size_t element) {
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    const auto extent = static_cast<size_t>(std::max<int64_t>(shape[i], 1));
    index[i] = static_cast<int64_t>(element % extent);
    element /= extent;
  }
  return index;
}

EvidenceElement describe_element(const Offence& offence, const Tensor& output) {
  EvidenceElement element;
  element.index = unravel(output.shape, offence.element);
  element.kind = offence_kinds[static_cast<size_t>(offence.kind)];
  element.observed = offence.observed;
  element.expected = offence.expected;
  element.low = offence.low;
  element.high = offence.high;
  element.ratio = offence.ratio;
  if (std::isfinite(offence.observed) && std::isfinite(offence.expected)) {
    element.ulps = std::abs(offence.observed - offence.expected) /
                   unit_in_last_place(output.dtype, offence.expected);
  }
  return element;
}

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

Reproducer common(const Case& c, const CaseLimits& limits, const KernelIdentity& kernel,
                  const std::string& device) {
  Reproducer r;
  r.warpfuzz_version = version();
  r.toolchain = toolchain();
  r.date = today();
  r.tier = tier(c);
  r.op = c.schema->name;
  r.description = describe(c);
  r.case_bytes = encode(c);
  r.limits = limits;
  r.call = store_call(c);
  r.kernel = kernel;
  r.device = device;
  return r;
}

EvidenceFault earlier_side(const EarlierAccess& access) {
  EvidenceFault side;
  side.kind = name(FaultKind::data_race);
  side.message = fmt::format("the {} before it", access.kind);
  side.file = project_path(access.file);
  side.line = access.line;
  side.block = {access.block.x, access.block.y, access.block.z};
  side.thread = {access.thread.x, access.thread.y, access.thread.z};
  return side;
}

Evidence make_evidence(const Case& c, const TrialResult& result) {
  const GateResult& finding = result.finding;
  Evidence evidence;
  evidence.reason = finding.reason;
  if (!finding.elements.empty()) {
    const Tensor& output = result.primary.outputs[finding.output];
    evidence.output = c.schema->outputs[finding.output].name;
    evidence.pattern = classify(output.shape, finding.elements).sentence;
    evidence.offending = finding.elements.size();
    for (const Offence& offence : finding.offences) {
      if (evidence.elements.size() == max_evidence_elements) break;
      evidence.elements.push_back(describe_element(offence, output));
    }
  }
  if (!finding.offences.empty()) {
    const auto error = Oracle(c, result.inputs).quantisation(result.primary.outputs);
    if (error) evidence.quantisation = describe(*error);
  }
  add_faults(evidence, finding.faults);
  return evidence;
}

}  // namespace

void add_faults(Evidence& evidence, const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    EvidenceFault stored;
    stored.kind = name(fault.kind);
    stored.message = fault.message;
    stored.file = project_path(fault.file);
    stored.line = fault.line;
    stored.block = {fault.block.x, fault.block.y, fault.block.z};
    stored.thread = {fault.thread.x, fault.thread.y, fault.thread.z};
    if (std::ranges::find(evidence.faults, stored) != evidence.faults.end()) continue;
    evidence.faults.push_back(std::move(stored));
    if (fault.earlier) evidence.faults.push_back(earlier_side(*fault.earlier));
  }
}

Signature signature_of(const Case& c, const TrialResult& result) {
  return {c, result.gate->id, symptom_of(result.gate->id, result.finding)};
}

std::optional<Signature> violation_signature(const Case& c, const TrialResult& result) {
  if (result.outcome != TrialOutcome::violation) return std::nullopt;
  return signature_of(c, result);
}

Reproducer make_reproducer(const Case& c, const CaseLimits& limits, const TrialResult& result,
                           const KernelIdentity& kernel, const std::string& device) {
  Reproducer r = common(c, limits, kernel, device);
  r.gate = result.gate->id;
  r.signature = signature_of(c, result).text();
  r.evidence = make_evidence(c, result);
  for (size_t i = 0; i < result.inputs.size(); ++i) {
    r.inputs.push_back({c.schema->inputs[i].name, result.inputs[i]});
  }
  for (size_t i = 0; i < result.primary.outputs.size(); ++i) {
    r.outputs.push_back({c.schema->outputs[i].name, result.primary.outputs[i]});
  }
  return r;
}

Signature crash_signature(const Case& c) { return {c, "RUN-01", Symptom::bounds}; }

Reproducer make_crash_reproducer(const Case& c, const CaseLimits& limits,
                                 const KernelIdentity& kernel, const std::string& device,
                                 const std::string& how_it_ended) {
  Reproducer r = common(c, limits, kernel, device);
  r.gate = "RUN-01";
  r.signature = crash_signature(c).text();
  r.evidence.reason = "the kernel ended the process that ran it: " + how_it_ended;
  const std::vector<Tensor> inputs = make_inputs(c);
  for (size_t i = 0; i < inputs.size(); ++i) {
    r.inputs.push_back({c.schema->inputs[i].name, inputs[i]});
  }
  return r;
}

}  // namespace warpfuzz
