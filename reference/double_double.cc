#include "reference/double_double.h"

#include <limits>

namespace warpfuzz {
namespace {

// exp(r) - 1 for |r| <= 2^-9: the series is below 2^-106 relative after ten terms.
DoubleDouble small_expm1(const DoubleDouble& r) {
  constexpr int terms = 10;
  DoubleDouble sum(1.0);
  for (int k = terms; k > 1; --k) sum = DoubleDouble(1.0) + sum * r / DoubleDouble(k);
  return sum * r;
}

}  // namespace

DoubleDouble NumberFunctions<DoubleDouble>::exp(const DoubleDouble& x) {
  static const DoubleDouble ln2(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56);
  constexpr int squarings = 9;
  if (x.high < -740) return DoubleDouble(0.0);
  if (x.high > 709) return DoubleDouble(std::numeric_limits<double>::infinity());
  const double k = std::nearbyint(x.high / ln2.high);
  DoubleDouble r = x - ln2 * DoubleDouble(k);
  const double shrink = std::ldexp(1.0, -squarings);
  // Squaring exp(r) - 1 = s as s (s + 2) keeps the digits below 1.
  DoubleDouble s = small_expm1({r.high * shrink, r.low * shrink});
  for (int i = 0; i < squarings; ++i) s = s * (s + DoubleDouble(2.0));
  s = s + DoubleDouble(1.0);
  const int exponent = static_cast<int>(k);
  return {std::ldexp(s.high, exponent), std::ldexp(s.low, exponent)};
}

// One step from double's logarithm: log x = y + log(x exp(-y)), whose argument is 1 + d, d ~ 2^-53.
DoubleDouble NumberFunctions<DoubleDouble>::log(const DoubleDouble& x) {
  const DoubleDouble y(std::log(x.high));
  const DoubleDouble d = x * exp(-y) - DoubleDouble(1.0);
  return y + d - d * d * DoubleDouble(0.5);
}

}  // namespace warpfuzz
