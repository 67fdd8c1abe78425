// MEM-03: the bytes of every input are unchanged, gaps between strided rows included. No tolerance.
#include <fmt/format.h>

#include "gates/checks.h"

namespace warpfuzz {

GateResult check_inputs_intact(const Judgement& judgement) {
  for (const Damage& damage : judgement.primary().damage) {
    if (damage.kind != RegionKind::input) continue;
    return violation(fmt::format("the kernel changed {} bytes of {}, the first at offset {}",
                                 damage.bytes, damage.where, damage.offset));
  }
  return pass();
}

}  // namespace warpfuzz
