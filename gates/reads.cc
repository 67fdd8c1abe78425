// MEM-04: no result depends on bytes outside the inputs. Decided by a run in which nothing differs
// but the guards and the gaps between rows. No tolerance.
#include <fmt/format.h>

#include "gates/checks.h"

namespace warpfuzz {

GateResult check_reads(const Judgement& judgement) {
  const Observation& primary = judgement.primary();
  const Observation* other = judgement.find(Probe::other_guards);
  const Observation* schedule = judgement.find(Probe::other_schedule);
  if (bits_vary(judgement)) return not_applicable("the bits may vary from run to run");
  if (!comparable(primary, other)) return not_applicable("no second run with other guards");
  // What also changes with the schedule has another cause.
  if (comparable(primary, schedule) && schedule->outputs != primary.outputs) return pass();
  for (size_t output = 0; output < primary.outputs.size(); ++output) {
    std::vector<size_t> elements =
        differing_elements(primary.outputs[output], other->outputs[output]);
    if (elements.empty()) continue;
    GateResult result = violation(fmt::format(
        "{} of {} elements of output {} change with bytes outside the inputs", elements.size(),
        primary.outputs[output].size(), judgement.c.schema->outputs[output].name));
    result.output = output;
    result.elements = std::move(elements);
    return result;
  }
  return pass();
}

}  // namespace warpfuzz
