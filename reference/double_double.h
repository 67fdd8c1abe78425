// Double-double: an unevaluated sum of two doubles, about 104 bits, level 1 of the oracle. Each
// operation's relative error is below 2^-100, exp's below 2^-94 (reference/NUMERICS.md, "Levels").
// Needs round to nearest and no contraction. erf and tanh are not provided: references that use
// them go from level 0 to level 2.
#pragma once

#include <cmath>

#include "reference/plain.h"

namespace warpfuzz {

struct DoubleDouble {
  double high = 0;
  double low = 0;
  DoubleDouble() = default;
  explicit DoubleDouble(double value) : high(value) {}
  DoubleDouble(double h, double l) : high(h), low(l) {}
};

namespace double_double {

// high + low = a + b exactly; the second form needs |a| >= |b|.
inline DoubleDouble two_sum(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
inline DoubleDouble quick_two_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}
inline DoubleDouble two_product(double a, double b) {
  const double p = a * b;
  return {p, std::fma(a, b, -p)};
}

}  // namespace double_double

inline DoubleDouble operator-(const DoubleDouble& a) { return {-a.high, -a.low}; }

inline DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
  using namespace double_double;
  DoubleDouble s = two_sum(a.high, b.high);
  const DoubleDouble t = two_sum(a.low, b.low);
  s = quick_two_sum(s.high, s.low + t.high);
  return quick_two_sum(s.high, s.low + t.low);
}
inline DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return a + -b; }

inline DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
  using namespace double_double;
  const DoubleDouble p = two_product(a.high, b.high);
  return quick_two_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

inline DoubleDouble operator/(const DoubleDouble& a, const DoubleDouble& b) {
  using namespace double_double;
  const double q1 = a.high / b.high;
  DoubleDouble rest = a - DoubleDouble(q1) * b;
  const double q2 = rest.high / b.high;
  rest = rest - DoubleDouble(q2) * b;
  const double q3 = rest.high / b.high;
  return quick_two_sum(q1, q2) + DoubleDouble(q3);
}

inline bool operator>(const DoubleDouble& a, const DoubleDouble& b) {
  return a.high > b.high || (a.high == b.high && a.low > b.low);
}

inline DoubleDouble sqrt(const DoubleDouble& a) {
  if (a.high <= 0) return DoubleDouble(std::sqrt(a.high));
  const double root = std::sqrt(a.high);
  const DoubleDouble rest = a - double_double::two_product(root, root);
  return double_double::quick_two_sum(root, rest.high / (2 * root));
}

template <>
struct NumberFunctions<DoubleDouble> {
  static DoubleDouble exp(const DoubleDouble& x);
  static DoubleDouble log(const DoubleDouble& x);  // 2^-98 absolute
  static DoubleDouble from_decimal(const char* text);
  static Refined refined(const DoubleDouble& x) { return {x.high, x.low}; }
};

}  // namespace warpfuzz
