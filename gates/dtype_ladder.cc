// PRC-01: each dtype is computed at its own precision, never one precision lower. Accuses a kernel
// that is right on integers of at most 7 bits and wrong on values that use all bits of their dtype.
#include "gates/checks.h"

namespace warpfuzz {

GateResult check_dtype_ladder(const Judgement& judgement) {
  if (!has_lattice(*judgement.c.schema)) return not_applicable("the operator has no exact lattice");
  if (!judgement.primary().values_differ()) return pass();
  const Observation* coarse = judgement.find(Probe::coarse_values);
  const Observation* lattice = judgement.find(Probe::lattice_values);
  if (coarse == nullptr || lattice == nullptr) return not_applicable("no control runs");
  if (coarse->violates() || lattice->violates()) return pass();
  return value_violation(judgement,
                         "inputs lose bits: exact on 7-bit integers, wrong on values that use the "
                         "whole significand of their dtype");
}

}  // namespace warpfuzz
