// PRC-01: each dtype is computed at its own precision, never one precision lower. Accuses a kernel
// that is right on integers of at most 7 bits, and on its own input rounded to 7 bits, and wrong on
// values that use all bits of their dtype.
#include "gates/checks.h"

namespace warpfuzz {

GateResult check_dtype_ladder(const Judgement& judgement) {
  if (!judgement.primary().values_differ()) return pass();
  // The controls are finite: they say nothing of what goes wrong with NaN and infinities.
  if (judgement.has_specials) return not_applicable("an input holds NaN or an infinity");
  const auto controls = exact_controls(judgement);
  if (!controls) return not_applicable("no exact control runs");
  const Observation* few_bits = judgement.find(Probe::few_bits);
  if (!controls->coarse->clean() || !controls->lattice->clean()) return pass();
  if (few_bits == nullptr || !few_bits->clean()) return pass();
  return value_violation(judgement,
                         "inputs lose bits: right on values of 7 significant bits, wrong on values "
                         "that use the whole significand of their dtype");
}

}  // namespace warpfuzz
