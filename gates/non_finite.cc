// EXC-01: NaN, +Inf and -Inf appear in the outputs exactly where the operator's algebra puts them,
// or may put them inside the overflow envelope. No tolerance.
#include "gates/checks.h"

namespace warpfuzz {

GateResult check_non_finite(const Judgement& judgement) {
  const Observation& primary = judgement.primary();
  bool lost = false;  // NaN or infinity expected, something else seen
  bool any = false;
  for (const Comparison& comparison : primary.comparisons) {
    for (const Offence& offence : comparison.offences) {
      if (offence.kind != OffenceKind::non_finite) continue;
      any = true;
      if ((offence.allowed & class_finite) == 0) lost = true;
    }
  }
  // A kernel that is wrong on finite elements of ordinary data is not a non-finite matter.
  const bool only = all_offences_are(primary, OffenceKind::non_finite);
  if (!any || (!only && !judgement.has_specials)) return pass();
  return value_violation(
      judgement, lost ? "a NaN or an infinity of the input does not reach the output as the "
                        "operator demands"
                      : "a NaN or an infinity appears where the result is finite");
}

}  // namespace warpfuzz
