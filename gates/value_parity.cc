// CMP-01: every output element lies within its own derived tolerance of the unrounded reference.
#include "gates/checks.h"

namespace warpfuzz {

GateResult check_value_parity(const Judgement& judgement) {
  if (!judgement.primary().values_differ()) return pass();
  return value_violation(judgement, "the value is wrong");
}

}  // namespace warpfuzz
