// PRC-02: the accumulator is at least the declared type. Accuses a kernel that is right on values
// so coarse that an 8-bit accumulator is exact on them, and wrong on few-bit integers whose sums
// need the declared accumulator: only the width of the accumulator separates the two. No tolerance.
#include "gates/checks.h"

namespace warpfuzz {

GateResult check_accumulator(const Judgement& judgement) {
  if (!judgement.primary().values_differ()) return pass();
  const auto controls = exact_controls(judgement);
  if (!controls) return not_applicable("no exact control runs");
  if (!controls->coarse->clean() || !controls->lattice->violates()) return pass();
  return value_violation(judgement,
                         "sums lose bits: exact on values in {-1, 0, 1}, inexact on integers whose "
                         "sums fit the declared accumulator");
}

}  // namespace warpfuzz
