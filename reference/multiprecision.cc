#include "reference/multiprecision.h"

#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <new>
#include <type_traits>

#include "reference/double_double.h"

namespace warpfuzz {
namespace {

using Number = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<168, boost::multiprecision::digit_base_2>,
    boost::multiprecision::et_off>;
static_assert(sizeof(Number) == sizeof(Multiprecision));
static_assert(alignof(Number) == alignof(Multiprecision));
static_assert(std::is_trivially_destructible_v<Number>);

const Number& number(const Multiprecision& x) { return x.as<Number>(); }

Multiprecision wrap(const Number& value) {
  Multiprecision result(0.0);
  result.as<Number>() = value;
  return result;
}

}  // namespace

Multiprecision::Multiprecision(double value) { new (storage_) Number(value); }
Multiprecision::Multiprecision(const Multiprecision& other) {
  new (storage_) Number(number(other));
}
Multiprecision& Multiprecision::operator=(const Multiprecision& other) {
  as<Number>() = number(other);
  return *this;
}
Multiprecision::operator double() const { return number(*this).convert_to<double>(); }

Multiprecision operator-(const Multiprecision& a) { return wrap(-number(a)); }
Multiprecision operator+(const Multiprecision& a, const Multiprecision& b) {
  return wrap(number(a) + number(b));
}
Multiprecision operator-(const Multiprecision& a, const Multiprecision& b) {
  return wrap(number(a) - number(b));
}
Multiprecision operator*(const Multiprecision& a, const Multiprecision& b) {
  return wrap(number(a) * number(b));
}
Multiprecision operator/(const Multiprecision& a, const Multiprecision& b) {
  return wrap(number(a) / number(b));
}
bool operator>(const Multiprecision& a, const Multiprecision& b) { return number(a) > number(b); }
Multiprecision sqrt(const Multiprecision& a) {
  return wrap(boost::multiprecision::sqrt(number(a)));
}

Multiprecision NumberFunctions<Multiprecision>::exp(const Multiprecision& x) {
  return wrap(boost::multiprecision::exp(number(x)));
}

Multiprecision NumberFunctions<Multiprecision>::log(const Multiprecision& x) {
  return wrap(boost::multiprecision::log(number(x)));
}

Multiprecision NumberFunctions<Multiprecision>::erf(const Multiprecision& x) {
  return wrap(boost::math::erf(number(x)));
}

Multiprecision NumberFunctions<Multiprecision>::tanh(const Multiprecision& x) {
  if (number(x) > 200) return Multiprecision(1.0);
  if (number(x) < -200) return Multiprecision(-1.0);
  return wrap(boost::multiprecision::tanh(number(x)));
}

Refined NumberFunctions<Multiprecision>::refined(const Multiprecision& x) {
  const double high = static_cast<double>(x);
  if (!std::isfinite(high)) return {high, 0};
  return {high, static_cast<double>(x - Multiprecision(high))};
}

Multiprecision NumberFunctions<Multiprecision>::from_decimal(const char* text) {
  return wrap(Number(text));
}

DoubleDouble NumberFunctions<DoubleDouble>::from_decimal(const char* text) {
  using Exact = NumberFunctions<Multiprecision>;
  const Refined value = Exact::refined(Exact::from_decimal(text));
  return {value.high, value.low};
}

}  // namespace warpfuzz
