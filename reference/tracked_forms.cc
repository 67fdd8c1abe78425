// Expressions that kernels associate in different ways: the roundings of every form are granted.
#include <cmath>

#include "reference/tracked.h"
#include "reference/tracked_loops.h"

namespace warpfuzz {

Row Tracked::times_difference(const Row& y, const Row& a, const Scalar& s) {
  Row out = multiply(y, subtract(a, s));
  const double u = p_.roundoff;
  const auto overflows = [&](double product) { return product * (1 + 4 * u) >= p_.overflow; };
  // Infinities cancel in the second form only.
  for (size_t i = 0; out.special && i < out.n; ++i) {
    const double first = std::fabs(y.r[i] * a.r[i]), second = std::fabs(y.r[i] * s.r);
    if ((std::isinf(first) || std::isinf(second)) && overflows(first) && overflows(second)) {
      ensure_doubt(out)[i] |= class_nan;
    }
  }
  // Exact: |y a| and |y s| are within the bound of y (a - s), so they are exact as well.
  for (size_t i = 0; toleranced(out) && i < out.n; ++i) {
    const double first = std::fabs(y.r[i] * a.r[i]), second = std::fabs(y.r[i] * s.r);
    if (!std::isfinite(first) || !std::isfinite(second)) continue;
    out.lin[i] += u * (first + second);
    out.var[i] += u * u * (first * first + second * second) / 3;
    if (overflows(first) || overflows(second)) ensure_doubt(out)[i] |= doubt_undetermined;
  }
  return out;
}

}  // namespace warpfuzz
