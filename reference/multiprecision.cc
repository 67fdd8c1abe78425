#include "reference/multiprecision.h"

#include <boost/math/special_functions/erf.hpp>

#include "reference/double_double.h"

namespace warpfuzz {

Multiprecision NumberFunctions<Multiprecision>::exp(const Multiprecision& x) {
  return boost::multiprecision::exp(x);
}

Multiprecision NumberFunctions<Multiprecision>::erf(const Multiprecision& x) {
  return boost::math::erf(x);
}

Multiprecision NumberFunctions<Multiprecision>::tanh(const Multiprecision& x) {
  if (x > 200) return Multiprecision(1);
  if (x < -200) return Multiprecision(-1);
  return boost::multiprecision::tanh(x);
}

Refined NumberFunctions<Multiprecision>::refined(const Multiprecision& x) {
  const double high = x.convert_to<double>();
  if (!std::isfinite(high)) return {high, 0};
  return {high, Multiprecision(x - Multiprecision(high)).convert_to<double>()};
}

Multiprecision NumberFunctions<Multiprecision>::from_decimal(const char* text) {
  return Multiprecision(text);
}

DoubleDouble NumberFunctions<DoubleDouble>::from_decimal(const char* text) {
  const Refined value = NumberFunctions<Multiprecision>::refined(Multiprecision(text));
  return {value.high, value.low};
}

}  // namespace warpfuzz
