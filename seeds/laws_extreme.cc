#include <algorithm>
#include <limits>

#include "seeds/law_functions.h"

namespace warpfuzz {
namespace {

// Seeds 0, 1, 2: NaN, +Inf, -Inf only; 3: all three.
double non_finite(uint64_t seed, uint64_t bits) {
  static constexpr double specials[] = {std::numeric_limits<double>::quiet_NaN(),
                                        std::numeric_limits<double>::infinity(),
                                        -std::numeric_limits<double>::infinity()};
  return specials[seed % 4 == 3 ? (bits >> 32) % 3 : seed % 4];
}

}  // namespace

// Random signs. By seed modulo 4: 0, 1 the upper half of the range; 2 a quarter of it divided by
// the length, so that sums just fit; 3 around its square root, where squares overflow.
void near_overflow_law(const LawArguments& arguments, std::span<double> values) {
  const double largest = largest_value(arguments.dtype);
  const int exponent = static_cast<int>(std::bit_cast<uint64_t>(largest) >> 52) - 1023;
  const double tops[] = {largest, largest,
                         largest / 4 / static_cast<double>(std::max<int64_t>(arguments.length, 1)),
                         power_of_two((exponent + 2) / 2)};
  const double top = tops[arguments.seed % 4];
  const Generator generator(arguments.seed);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t bits = generator.bits(i);
    values[i] = random_sign(bits) * top * (1 - static_cast<double>(bits >> 32) * 0x1p-33);
  }
}

// Nonzero multiples of the smallest subnormal, below the smallest normal. Integer types: 1 and -1.
void subnormal_law(const LawArguments& arguments, std::span<double> values) {
  const bool floating = info(arguments.dtype).floating;
  const FormatTraits& format = traits(arguments.dtype);
  const double quantum = floating ? format.smallest_subnormal : 1;
  const uint64_t largest = floating ? (uint64_t{1} << (format.precision - 1)) - 1 : 1;
  const Generator generator(arguments.seed);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t bits = generator.bits(i);
    const uint64_t multiple = std::max<uint64_t>(bits >> 8 & largest, 1);
    values[i] = random_sign(bits) * static_cast<double>(multiple) * quantum;
  }
}

// Zeros of both signs; odd seeds mix in a quarter of normal elements.
void signed_zeros_law(const LawArguments& arguments, std::span<double> values) {
  const Generator generator(arguments.seed);
  const Generator choice(arguments.seed, 1);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t bits = choice.bits(i);
    const bool normal = arguments.seed % 2 == 1 && (bits >> 8 & 3) == 0;
    values[i] = normal ? generator.normal(i) : 0.0 * random_sign(bits);
  }
}

// Normal with one special element in 64, and at least one.
void non_finite_scattered_law(const LawArguments& arguments, std::span<double> values) {
  if (values.empty()) return;
  const Generator generator(arguments.seed);
  const Generator choice(arguments.seed, 1);
  const size_t certain = (choice.bits(values.size()) >> 16) % values.size();
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t bits = choice.bits(i);
    values[i] =
        i == certain || (bits & 63) == 0 ? non_finite(arguments.seed, bits) : generator.normal(i);
  }
}

// Normal with one lane in four all special, and at least one.
void non_finite_row_law(const LawArguments& arguments, std::span<double> values) {
  const auto lanes = static_cast<uint64_t>(arguments.outer * arguments.inner);
  if (lanes == 0) return;
  const Generator generator(arguments.seed);
  const Generator choice(arguments.seed, 1);
  const uint64_t certain = (choice.bits(lanes) >> 16) % lanes;
  for_each_place(arguments, [&](uint64_t index, uint64_t, uint64_t lane) {
    const uint64_t bits = choice.bits(lane);
    values[index] = lane == certain || (bits & 3) == 0 ? non_finite(arguments.seed, bits)
                                                       : generator.normal(index);
  });
}

// The ends of the type's exact integers and of its range, 0 and +-1.
void integer_extremes_law(const LawArguments& arguments, std::span<double> values) {
  const double largest = largest_value(arguments.dtype);
  const double exact = largest_exact_integer(arguments.dtype);
  // Integer types saturate, so the value below -largest is their lowest.
  const double lowest = info(arguments.dtype).floating ? -largest : -largest - 1;
  const double extremes[] = {largest, lowest, exact, -exact, exact - 1, 1, -1, 0};
  const Generator generator(arguments.seed);
  for (size_t i = 0; i < values.size(); ++i) values[i] = extremes[generator.bits(i) >> 61];
}

}  // namespace warpfuzz
