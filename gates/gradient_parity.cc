// CMP-02: every element of a backward operator's outputs lies within its own derived tolerance of
// the vector-Jacobian product. The reference itself is checked against central differences in
// tests/.
#include "gates/checks.h"

namespace warpfuzz {

GateResult check_gradient_parity(const Judgement& judgement) {
  if (!has_tag(*judgement.c.schema, "backward")) {
    return not_applicable("the operator is no backward operator");
  }
  if (!judgement.primary().values_differ()) return pass();
  return value_violation(judgement, "the gradient is wrong");
}

}  // namespace warpfuzz
