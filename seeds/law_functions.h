// The functions behind the table in value_law.cc, grouped by kind. Internal to seeds/. Each fills
// all values; `finite` laws are clamped to the element type's range by the caller.
#pragma once

#include <cstdint>
#include <span>

#include "reference/number_format.h"
#include "seeds/random_laws.h"
#include "seeds/value_law.h"

namespace warpfuzz {

using LawFunction = void (*)(const LawArguments&, std::span<double>);

// laws_random.cc: every element on its own, as random_laws.h says.
template <ValueLaw law>
void random_law(const LawArguments& arguments, std::span<double> values);

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

// The law with what it takes from the element type.
RandomLaw make_random_law(ValueLaw law, uint64_t seed, DType dtype);

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

}  // namespace warpfuzz
