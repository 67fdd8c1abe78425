// The laws under which an element depends on the seed and on its own index alone: it can be made
// anywhere, so tensors too large for the host are made on the device. All of it is constexpr, free
// of the math library and passes by value: the same lines are host and device code, and give the
// same bits if nvcc does not fuse multiplications with additions (-fmad=false). No expression here
// has both, but where the product is exact: clang fuses within expressions only.
#pragma once

#include <bit>
#include <cstdint>

#include "schemas/vocabulary.h"
#include "seeds/generator.h"

namespace warpfuzz {

// `value` with its sign flipped if the lowest bit says so. No branch: random ones mispredict.
constexpr double flip_sign(double value, uint64_t bits) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ bits << 63);
}
constexpr double random_sign(uint64_t bits) { return flip_sign(1.0, bits); }

// 2^exponent for the exponents of normal doubles, without the math library.
constexpr double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

constexpr bool is_random(ValueLaw law) {
  return law == ValueLaw::normal || law == ValueLaw::uniform || law == ValueLaw::log_uniform ||
         law == ValueLaw::large_mean || law == ValueLaw::tiny_spread ||
         law == ValueLaw::very_negative || law == ValueLaw::outliers;
}

constexpr double large_part(double x) { return 900 * x; }

inline constexpr double tiny_spreads[] = {1e-3, 3e-3, 1e-4, 1e-2};

// One of these laws with its seed and what it takes from the element type: the exponent of the
// smallest normal value (0 for integers) and the largest value.
struct RandomLaw {
  ValueLaw law;
  uint64_t seed;
  int lowest;
  double largest;
  Generator values;
  Generator second;
  double mean;
  double spread;
  uint64_t binades;

  constexpr RandomLaw(ValueLaw of, uint64_t from, int lowest_exponent, double largest_value)
      : law(of),
        seed(from),
        lowest(lowest_exponent),
        largest(largest_value),
        values(from),
        second(from, 1),
        mean(of == ValueLaw::large_mean ? 100 + large_part(second.uniform(0))
             : from % 2 == 0            ? -20.0
                                        : -100.0),
        spread(tiny_spreads[from % 4]),
        binades((std::bit_cast<uint64_t>(largest_value) >> 52) - 1023 -
                static_cast<uint64_t>(static_cast<int64_t>(lowest_exponent)) + 1) {}

  // Element i before rounding, and before it is clamped to the finite values.
  template <ValueLaw kind>
  constexpr double element(uint64_t i) const {
    if constexpr (kind == ValueLaw::uniform) {
      return values.uniform(i);
    } else if constexpr (kind == ValueLaw::log_uniform) {
      // Random sign, an exponent uniform over those of the type's normal values, a uniform
      // significand. 15 bits for the exponent, so that sign and significand are independent of it.
      const uint64_t bits = values.bits(i);
      const double significand = 1 + static_cast<double>(bits >> 32) * 0x1p-32;
      const auto exponent = static_cast<int>((bits >> 1 & 0x7FFF) * binades >> 15);
      return random_sign(bits) * significand * power_of_two(lowest + exponent);
    } else if constexpr (kind == ValueLaw::large_mean || kind == ValueLaw::very_negative) {
      // Standard deviation 1 around one mean for the whole tensor: in [100, 1000), or so low that a
      // leak of zeros into a maximum or a sum of exponentials dwarfs the values.
      return mean + values.normal(i);
    } else if constexpr (kind == ValueLaw::tiny_spread) {
      // Around 0, with a variance below, near or little above the usual eps (1e-5, 1e-6).
      return spread * values.normal(i);
    } else if constexpr (kind == ValueLaw::outliers) {
      // Normal; one element in a hundred is 10 to 10,000 times larger.
      const double factors[] = {10, 100, 1000, 10000};
      const uint64_t bits = second.bits(i);
      const bool outlier = (bits >> 32) * 100 >> 32 == 0;
      return values.normal(i) * (outlier ? factors[bits & 3] : 1);
    } else {
      static_assert(kind == ValueLaw::normal);
      return values.normal(i);
    }
  }

  // Element i as it is rounded to a floating-point type.
  constexpr double value(uint64_t i) const {
    double x = 0;
    switch (law) {
      case ValueLaw::uniform:
        x = element<ValueLaw::uniform>(i);
        break;
      case ValueLaw::log_uniform:
        x = element<ValueLaw::log_uniform>(i);
        break;
      case ValueLaw::large_mean:
        x = element<ValueLaw::large_mean>(i);
        break;
      case ValueLaw::tiny_spread:
        x = element<ValueLaw::tiny_spread>(i);
        break;
      case ValueLaw::very_negative:
        x = element<ValueLaw::very_negative>(i);
        break;
      case ValueLaw::outliers:
        x = element<ValueLaw::outliers>(i);
        break;
      default:
        x = element<ValueLaw::normal>(i);
    }
    return x < -largest ? -largest : x > largest ? largest : x;
  }
};

}  // namespace warpfuzz
