// What makes one output element right (NUMERICS.md, "Verdict", "Overflow"), in numbers alone: the
// acceptable classes, the rounding to the output format, the distance. All of it is constexpr and
// passes by value: the oracle's comparison and device code that judges tensors too large to travel
// have one formula.
#pragma once

#include <bit>
#include <cstdint>

#include "reference/float_encoding.h"

namespace warpfuzz {

// Acceptable classes of one output element, a bit set.
enum ElementClass : uint8_t {
  class_finite = 1,  // finite within the tolerance
  class_positive_infinity = 2,
  class_negative_infinity = 4,
  class_nan = 8,
  class_any = 15,
};
// Beside them, where classes are collected on the way: nothing is known at all.
inline constexpr uint8_t doubt_undetermined = 16;

constexpr double magnitude_of(double x) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(x) & 0x7fff'ffff'ffff'ffffu);
}
constexpr bool is_nan(double x) { return x != x; }
constexpr bool is_infinite(double x) {
  return std::bit_cast<uint64_t>(magnitude_of(x)) == 0x7ff0'0000'0000'0000u;
}

constexpr uint8_t class_of(double y) {
  if (is_nan(y)) return class_nan;
  if (is_infinite(y)) return y > 0 ? class_positive_infinity : class_negative_infinity;
  return class_finite;
}

// Classes that rounding to the output format makes acceptable; `doubt` has those that overflow on
// the way does.
constexpr uint8_t acceptable_classes(const FormatTraits& t, double r, double tolerance,
                                     uint8_t doubt) {
  if ((doubt & doubt_undetermined) != 0) return class_any;
  if (is_nan(r)) return class_nan;
  const uint8_t beyond = static_cast<uint8_t>(!t.has_infinity ? class_nan
                                              : r > 0         ? class_positive_infinity
                                                              : class_negative_infinity);
  const uint8_t infinities = class_positive_infinity | class_negative_infinity;
  if (is_infinite(r)) {  // an overflow of the other sign on the way makes it NaN
    const bool opposed = (doubt & infinities & ~beyond) != 0;
    return static_cast<uint8_t>(beyond | (doubt & class_any) | (opposed ? class_nan : 0));
  }
  const double magnitude = magnitude_of(r);
  uint8_t allowed = class_finite;
  if (magnitude - tolerance >= t.overflow_edge) {
    allowed = beyond;
  } else if (magnitude + tolerance >= t.overflow_edge) {
    allowed |= beyond;
  }
  // The tolerance may reach across zero, to the infinity of the other sign.
  if (tolerance - magnitude >= t.overflow_edge) allowed |= infinities;
  allowed |= doubt & class_any;
  if ((doubt & infinities) == infinities) allowed |= class_nan;
  return allowed;
}

// The rounding to the output format.
struct OutputRounding {
  double half_roundoff = 0;  // half an ulp is 2^exponent times this; integers have spacing 1
  double half_smallest = 0;
  double repeated = 0;  // u for each rounding beyond the first
  double repeated_smallest = 0;

  constexpr OutputRounding() = default;
  constexpr OutputRounding(const FormatTraits& t, int roundings)
      : half_roundoff(t.precision > 0 ? 1 / static_cast<double>(uint64_t{1} << t.precision) : 0),
        half_smallest(0.5 * t.smallest_subnormal),
        repeated((roundings - 1) * half_roundoff),
        repeated_smallest((roundings - 1) * half_smallest) {}

  // How far from a value of this magnitude an element may lie.
  constexpr double slack(double magnitude, double tolerance) const {
    const double half = power_of_two_below(magnitude + tolerance) * half_roundoff;
    return tolerance + (half > half_smallest ? half : half_smallest) + repeated * magnitude +
           repeated_smallest;
  }
};

enum class Decision : uint8_t { inside, outside, open };

// Relative error of |y - r| and of the slack, each computed in a few operations.
inline constexpr double few_roundings = 0x1p-48;

// Of a finite element with a tolerance, `error` from a reference of this magnitude that is itself
// known within e: the same for all values in that range, or open.
constexpr Decision decide(const OutputRounding& rounding, double error, double magnitude, double e,
                          double tolerance, double margin = few_roundings) {
  const double lowest = magnitude > e ? magnitude - e : 0;
  if (error * (1 + margin) + e <= rounding.slack(lowest, tolerance) * (1 - margin)) {
    return Decision::inside;
  }
  if (error * (1 - margin) - e > rounding.slack(magnitude + e, tolerance) * (1 + margin)) {
    return Decision::outside;
  }
  return Decision::open;
}

}  // namespace warpfuzz
