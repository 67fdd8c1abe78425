// ORD-01: on exact-lattice inputs every order of summation gives the same, exact result; a result
// that is off by a little there is not a sum of these addends. No tolerance.
#include <algorithm>
#include <cmath>

#include "gates/checks.h"

namespace warpfuzz {

GateResult check_summation_order(const Judgement& judgement) {
  const auto& inputs = judgement.c.schema->inputs;
  if (std::none_of(inputs.begin(), inputs.end(),
                   [](const TensorSpec& input) { return input.reduction_axis.has_value(); })) {
    return not_applicable("the operator sums nothing");
  }
  if (!judgement.primary().exact) return not_applicable("the inputs are not on an exact lattice");
  if (!judgement.primary().values_differ()) return pass();
  for (const Comparison& comparison : judgement.primary().comparisons) {
    for (const Offence& offence : comparison.offences) {
      // Off by more than the coarsest output type rounds, of the sum or of an addend, most of which
      // are integers: a wrong value, not a lost bit.
      const double scale = std::max(std::abs(offence.expected), 1.0);
      if (!(std::abs(offence.observed - offence.expected) <= scale * 0x1p-6)) return pass();
    }
  }
  return value_violation(judgement, "the sum of exactly representable addends is not exact");
}

}  // namespace warpfuzz
