// MEM-01: no byte outside the outputs and the workspace changed, and no write was seen outside any
// tensor. No tolerance.
#include <fmt/format.h>

#include "gates/checks.h"

namespace warpfuzz {

GateResult check_guards(const Judgement& judgement) {
  GateResult result = fault_violation(judgement.primary(), {FaultKind::out_of_bounds_write});
  if (result.outcome == Outcome::violation) return result;
  for (const Damage& damage : judgement.primary().damage) {
    if (damage.kind == RegionKind::input) continue;  // MEM-03
    return violation(fmt::format("the kernel wrote {} bytes into {}, the first at offset {}",
                                 damage.bytes, damage.where, damage.offset));
  }
  return pass();
}

}  // namespace warpfuzz
