// The bits of every binary floating-point format, and the rounding to them in integer arithmetic.
// All of it is constexpr and passes by value, so that device code, too, rounds as number_format.h
// promises; host code encodes with that header.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "schemas/vocabulary.h"

namespace warpfuzz {

// Sign, exponent, fraction from the top bit down. Integers have bytes only.
struct Encoding {
  DType dtype;
  size_t bytes;
  int fraction_bits;  // precision - 1
  int exponent_bits;  // 0: not a floating-point format
  uint64_t largest;   // bits of the largest finite value
  uint64_t infinity;  // what overflow becomes
  uint64_t quiet_nan;
  bool has_infinity;
};

// In enum order.
inline constexpr Encoding encodings[] = {
    {DType::float32, 4, 23, 8, 0x7f7f'ffff, 0x7f80'0000, 0x7fc0'0000, true},
    {DType::float16, 2, 10, 5, 0x7bff, 0x7c00, 0x7e00, true},
    {DType::bfloat16, 2, 7, 8, 0x7f7f, 0x7f80, 0x7fc0, true},
    {DType::float64, 8, 52, 11, 0x7fef'ffff'ffff'ffff, 0x7ff0'0000'0000'0000, 0x7ff8'0000'0000'0000,
     true},
    {DType::float8_e4m3fn, 1, 3, 4, 0x7e, 0x7f, 0x7f, false},
    {DType::float8_e5m2, 1, 2, 5, 0x7b, 0x7c, 0x7e, true},
    {DType::int64, 8, 0, 0, 0, 0, 0, false},
    {DType::int32, 4, 0, 0, 0, 0, 0, false},
    {DType::int8, 1, 0, 0, 0, 0, 0, false},
    {DType::uint8, 1, 0, 0, 0, 0, 0, false},
    {DType::boolean, 1, 0, 0, 0, 0, 0, false},
};

// What its values are.
struct FormatTraits {
  int precision;         // significant bits, the hidden one included; integers: 0
  int minimum_exponent;  // of the smallest normal: 2^minimum_exponent
  double largest;        // largest finite
  double overflow_edge;  // round-to-nearest results at or beyond this magnitude are not finite
  double smallest_normal;
  double smallest_subnormal;
  bool has_infinity;
};

// 2^floor(log2 |value|) for a normal value; 0 for zero and double subnormals.
constexpr double power_of_two_below(double value) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(value) & 0x7ff0'0000'0000'0000u);
}

constexpr int bias(const Encoding& f) { return (1 << (f.exponent_bits - 1)) - 1; }
constexpr int minimum_exponent(const Encoding& f) { return 1 - bias(f); }
constexpr uint64_t sign_bit(const Encoding& f) {
  return uint64_t{1} << (f.fraction_bits + f.exponent_bits);
}

// Nearest, ties to even; NaN becomes the canonical one.
constexpr uint64_t encode_floating(const Encoding& f, double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint64_t magnitude = bits & 0x7fff'ffff'ffff'ffff;
  if (magnitude > 0x7ff0'0000'0000'0000) return f.quiet_nan;
  if (f.dtype == DType::float64) return bits;
  const uint64_t sign = (bits >> 63) != 0 ? sign_bit(f) : 0;
  if (magnitude == 0x7ff0'0000'0000'0000) return sign | f.infinity;
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  if (exponent == -1023) return sign;  // double subnormals are below half of every other format
  const uint64_t significand = (magnitude & 0xf'ffff'ffff'ffff) | 0x10'0000'0000'0000;
  const int below = exponent < minimum_exponent(f) ? minimum_exponent(f) - exponent : 0;
  const int shift = 52 - f.fraction_bits + below;
  if (shift > 53) return sign;  // below half of the smallest subnormal
  const uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  uint64_t rounded = significand >> shift;
  rounded += rest > half || (rest == half && (rounded & 1) != 0);
  // The hidden bit of a normal value adds the one that the exponent field still lacks; a carry out
  // of the fraction runs into the exponent as it should.
  if (below == 0)
    rounded += static_cast<uint64_t>(exponent - minimum_exponent(f)) << f.fraction_bits;
  return sign | (rounded > f.largest ? f.infinity : rounded);
}

}  // namespace warpfuzz
