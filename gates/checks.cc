#include "gates/checks.h"

#include <algorithm>
#include <cstring>

namespace warpfuzz {

GateResult pass() { return {}; }

GateResult not_applicable(std::string reason) {
  GateResult result;
  result.outcome = Outcome::not_applicable;
  result.reason = std::move(reason);
  return result;
}

GateResult violation(std::string reason) {
  GateResult result;
  result.outcome = Outcome::violation;
  result.reason = std::move(reason);
  return result;
}

GateResult value_violation(const Judgement& judgement, std::string reason) {
  return value_violation(judgement.primary(), std::move(reason));
}

GateResult value_violation(const Observation& observation, std::string reason) {
  GateResult result = violation(std::move(reason));
  const auto& comparisons = observation.comparisons;
  for (size_t output = 0; output < comparisons.size(); ++output) {
    if (comparisons[output].offending.empty()) continue;
    result.output = output;
    result.elements = comparisons[output].offending;
    result.offences = comparisons[output].offences;
    break;
  }
  return result;
}

std::vector<Fault> faults_of(const Observation& observation,
                             std::initializer_list<FaultKind> kinds) {
  std::vector<Fault> matching;
  for (const Fault& fault : observation.run.faults) {
    if (std::find(kinds.begin(), kinds.end(), fault.kind) != kinds.end()) matching.push_back(fault);
  }
  return matching;
}

GateResult fault_violation(const Observation& observation, std::initializer_list<FaultKind> kinds) {
  std::vector<Fault> matching = faults_of(observation, kinds);
  if (matching.empty()) return pass();
  GateResult result = violation(matching.front().message);
  result.faults = std::move(matching);
  return result;
}

bool comparable(const Observation& a, const Observation* b) {
  return b != nullptr && a.run.status == RunStatus::ok && b->run.status == RunStatus::ok;
}

std::vector<size_t> differing_elements(const Tensor& a, const Tensor& b) {
  std::vector<size_t> elements;
  if (a.data == b.data) return elements;
  const size_t bytes = info(a.dtype).bytes;
  for (size_t i = 0; i * bytes < a.data.size(); ++i) {
    if (std::memcmp(a.data.data() + i * bytes, b.data.data() + i * bytes, bytes) != 0) {
      elements.push_back(i);
    }
  }
  return elements;
}

bool is_poison(const Tensor& tensor, size_t element, Poison poison) {
  const size_t bytes = info(tensor.dtype).bytes;
  for (size_t i = 0; i < bytes; ++i) {
    if (tensor.data[element * bytes + i] != static_cast<std::byte>(poison)) return false;
  }
  return true;
}

bool bits_vary(const Judgement& judgement) {
  return judgement.c.schema->contract.determinism == Determinism::none &&
         judgement.primary().run.device_use.has_value();
}

bool has_tag(const Schema& schema, std::string_view tag) {
  return std::find(schema.tags.begin(), schema.tags.end(), tag) != schema.tags.end();
}

bool all_offences_are(const Observation& observation, OffenceKind kind) {
  bool any = false;
  for (const Comparison& comparison : observation.comparisons) {
    for (const Offence& offence : comparison.offences) {
      if (offence.kind != kind) return false;
      any = true;
    }
  }
  return any;
}

std::optional<ExactControls> exact_controls(const Judgement& judgement) {
  const Observation* coarse = judgement.find(Probe::coarse_values);
  const Observation* lattice = judgement.find(Probe::lattice_values);
  if (coarse == nullptr || lattice == nullptr || !coarse->exact || !lattice->exact) {
    return std::nullopt;
  }
  return ExactControls{coarse, lattice};
}

}  // namespace warpfuzz
