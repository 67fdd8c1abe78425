// Expressions that kernels associate in different ways: the roundings of every form are granted.
#include <cmath>

#include "reference/tracked.h"
#include "reference/tracked_loops.h"

namespace warpfuzz {

// One rounding of each addend (a factor folded in first), one of any pair, one of the sum.
Row Tracked::sum_of(const Row& a, const Row& b, const Row& c, double scale) {
  Row out = add(add(a, b), c);
  const double u = p_.roundoff;
  for (size_t i = 0; i < out.n; ++i) {
    double reach = 0;  // of the finite addends
    for (const double addend : {a.r[i], b.r[i], c.r[i]}) {
      if (std::isfinite(addend)) reach += scale * std::fabs(addend);
    }
    if (reach * (1 + 8 * u) < p_.overflow) continue;
    // Beside an infinite addend an overflow of the other sign makes NaN.
    ensure_doubt(out)[i] |= std::isfinite(out.r[i]) ? doubt_undetermined : uint8_t{class_nan};
  }
  for (size_t i = 0; toleranced(out) && i < out.n; ++i) {
    const double x = a.r[i], y = b.r[i], z = c.r[i];
    const double pair = std::fmax(std::fabs(x + z), std::fabs(y + z));
    const double local = u * (std::fabs(x) + std::fabs(y) + std::fabs(z) + pair);
    if (!std::isfinite(local)) continue;
    out.lin[i] += local;
    out.var[i] += local * local / 3;
  }
  return out;
}

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
