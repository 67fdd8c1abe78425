// The functions behind the table in value_law.cc, grouped by kind. Internal to seeds/. Each fills
// all values; `finite` laws are clamped to the element type's range by the caller.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "reference/number_format.h"
#include "seeds/generator.h"
#include "seeds/value_law.h"

namespace warpfuzz {

using LawFunction = void (*)(const LawArguments&, std::span<double>);

// laws_random.cc: every element on its own.
void normal_law(const LawArguments& arguments, std::span<double> values);
void uniform_law(const LawArguments& arguments, std::span<double> values);
void log_uniform_law(const LawArguments& arguments, std::span<double> values);
void large_mean_law(const LawArguments& arguments, std::span<double> values);
void tiny_spread_law(const LawArguments& arguments, std::span<double> values);
void very_negative_law(const LawArguments& arguments, std::span<double> values);
void outliers_law(const LawArguments& arguments, std::span<double> values);

// laws_structured.cc: elements that know their place.
void ramp_law(const LawArguments& arguments, std::span<double> values);
void constant_law(const LawArguments& arguments, std::span<double> values);
void all_equal_law(const LawArguments& arguments, std::span<double> values);
void sorted_law(const LawArguments& arguments, std::span<double> values);
void one_hot_law(const LawArguments& arguments, std::span<double> values);
void tail_spike_law(const LawArguments& arguments, std::span<double> values);
void rising_maximum_law(const LawArguments& arguments, std::span<double> values);

// laws_exact.cc: pairs that cancel, and values on which any sound accumulator is exact.
void lattice_law(const LawArguments& arguments, std::span<double> values);
void coarse_lattice_law(const LawArguments& arguments, std::span<double> values);
void cancelling_pairs_law(const LawArguments& arguments, std::span<double> values);

// laws_extreme.cc: the ends of the element type.
void near_overflow_law(const LawArguments& arguments, std::span<double> values);
void subnormal_law(const LawArguments& arguments, std::span<double> values);
void signed_zeros_law(const LawArguments& arguments, std::span<double> values);
void non_finite_scattered_law(const LawArguments& arguments, std::span<double> values);
void non_finite_row_law(const LawArguments& arguments, std::span<double> values);
void integer_extremes_law(const LawArguments& arguments, std::span<double> values);

// Largest n such that all integers of magnitude up to n are elements of the type.
double largest_exact_integer(DType dtype);
// Largest finite value of any element type, integers included.
double largest_value(DType dtype);

// Calls f(index, position, lane) for every element, in row-major order.
template <class Function>
void for_each_place(const LawArguments& arguments, Function f) {
  uint64_t index = 0;
  for (int64_t outer = 0; outer < arguments.outer; ++outer) {
    for (int64_t position = 0; position < arguments.length; ++position) {
      const auto lane = static_cast<uint64_t>(outer * arguments.inner);
      for (uint64_t i = 0; i < static_cast<uint64_t>(arguments.inner); ++i) {
        f(index++, static_cast<uint64_t>(position), lane + i);
      }
    }
  }
}

// `value` with its sign flipped if the lowest bit says so. No branch: random ones mispredict.
inline double flip_sign(double value, uint64_t bits) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ bits << 63);
}
inline double random_sign(uint64_t bits) { return flip_sign(1.0, bits); }

// 2^exponent for the exponents of normal doubles, without the math library.
inline double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

}  // namespace warpfuzz
