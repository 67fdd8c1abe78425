// MEM-02: every output element is written, and no result depends on what outputs, workspace or
// guards held before the call. Decided by two runs with different poison; a run with another
// schedule but the same poison tells this apart from non-determinism. No tolerance.
#include <fmt/format.h>

#include "gates/checks.h"

namespace warpfuzz {
GateResult check_output_coverage(const Judgement& judgement) {
  const Observation& primary = judgement.primary();
  const Observation* other = judgement.find(Probe::other_poison);
  if (!comparable(primary, other)) return not_applicable("no second run with other poison");
  for (size_t output = 0; output < primary.outputs.size(); ++output) {
    const Tensor& a = primary.outputs[output];
    const Tensor& b = other->outputs[output];
    std::vector<size_t> unwritten;
    const std::vector<size_t> differing = differing_elements(a, b);
    for (size_t element : differing) {
      if (is_poison(a, element, Poison::quiet_nan) && is_poison(b, element, Poison::other)) {
        unwritten.push_back(element);
      }
    }
    GateResult result;
    if (!unwritten.empty()) {
      result = violation(fmt::format("{} of {} elements of output {} are never written",
                                     unwritten.size(), a.size(),
                                     judgement.c.schema->outputs[output].name));
      result.elements = std::move(unwritten);
    } else if (const Observation* schedule = judgement.find(Probe::other_schedule);
               !differing.empty() && !bits_vary(judgement) && comparable(primary, schedule) &&
               schedule->outputs[output].data == a.data) {
      result = violation(
          fmt::format("{} of {} elements of output {} change with the bytes that were in memory "
                      "before the call",
                      differing.size(), a.size(), judgement.c.schema->outputs[output].name));
      result.elements = differing;
      if (const Observation* watched = judgement.find(Probe::race_check)) {
        result.faults = faults_of(*watched, {FaultKind::uninitialized_read});  // the lines
      }
    } else {
      continue;
    }
    result.output = output;
    return result;
  }
  return pass();
}

}  // namespace warpfuzz
