// CMP-03: every legal shape is accepted and right. Accuses a rejection that no declared
// precondition covers, and a wrong value that vanishes when nothing but the shape changes to a tame
// one.
#include "gates/checks.h"

namespace warpfuzz {

GateResult check_shape_polymorphism(const Judgement& judgement) {
  const Observation& primary = judgement.primary();
  if (primary.run.status == RunStatus::unsupported) {
    return judgement.excluded_by_preconditions
               ? not_applicable("the kernel's preconditions exclude this call")
               : violation(
                     "the kernel returned WF_UNSUPPORTED for a call that the operator allows "
                     "and that its preconditions do not exclude");
  }
  if (!primary.values_differ()) return pass();
  // Where subnormals are lost, it is to which elements they fall that a shape changes.
  if (all_offences_are(primary, OffenceKind::subnormal)) return pass();
  const Observation* tame = judgement.find(Probe::tame_shape);
  if (tame == nullptr) return not_applicable("no run on a tame shape");
  if (!tame->clean()) return pass();
  return value_violation(
      judgement,
      "wrong on this shape, right when every axis but the batch is a power of two "
      "of at least 128");
}

}  // namespace warpfuzz
