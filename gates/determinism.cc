// ORD-02: the same bytes give the same bits (NaN and -0 compared by bits) when blocks and threads
// run in another order, and at other addresses. No tolerance.
#include <fmt/format.h>

#include "gates/checks.h"

namespace warpfuzz {

GateResult check_determinism(const Judgement& judgement) {
  if (judgement.c.schema->contract.determinism != Determinism::bitwise) {
    return not_applicable("the operator does not promise bitwise results");
  }
  const Observation& primary = judgement.primary();
  const struct {
    Probe probe;
    const char* change;
  } repeats[] = {{Probe::other_schedule, "the order in which blocks and threads run"},
                 {Probe::other_poison, "the addresses of the tensors"}};
  bool repeated = false;
  for (const auto& repeat : repeats) {
    const Observation* other = judgement.find(repeat.probe);
    if (!comparable(primary, other)) continue;
    repeated = true;
    for (size_t output = 0; output < primary.outputs.size(); ++output) {
      std::vector<size_t> elements =
          differing_elements(primary.outputs[output], other->outputs[output]);
      if (elements.empty()) continue;
      GateResult result = violation(fmt::format(
          "the bits of {} of {} elements of output {} depend on {}", elements.size(),
          primary.outputs[output].size(), judgement.c.schema->outputs[output].name, repeat.change));
      result.output = output;
      result.elements = std::move(elements);
      return result;
    }
  }
  return repeated ? pass() : not_applicable("the case asks for no second run");
}

}  // namespace warpfuzz
