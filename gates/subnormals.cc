// EXC-02: subnormal inputs and results are preserved where the contract does not allow flushing.
#include "gates/checks.h"

namespace warpfuzz {

GateResult check_subnormals(const Judgement& judgement) {
  if (!all_offences_are(judgement.primary(), OffenceKind::subnormal)) return pass();
  return value_violation(judgement, "subnormal numbers are not preserved");
}

}  // namespace warpfuzz
