// What half and bfloat16 have in common: conversion from and to float and double, bit exact, and
// the fused multiply-add with its single rounding. Everything is by round to nearest even; the
// result of NaN is the canonical 0x7fff, as on the GPU.
//
// Why arithmetic may go through float: +, -, *, / and sqrt of two p-bit numbers, rounded to at
// least 2p + 2 bits and then to p bits, equal the single rounding (Figueroa 1995). float has 24
// bits, half needs 24 and bfloat16 18; their subnormals lie in float's normal range or, for
// bfloat16, share its exponents, where a product of two still fits float's subnormals exactly. A
// fused multiply-add has no such theorem; it goes through double and float with the rounding "to
// odd", which does not disturb a later rounding to a shorter format (Boldo and Melquiond 2008).
#pragma once

#include "host_defines.h"

namespace wf_fp {

// `value` with its last bit set if `error`, the part that rounding to nearest cut off, is not zero:
// steps back to the truncated value first where rounding went away from zero.
WF_INTRINSIC double to_odd(double value, double error) {
  const long long bits = __builtin_bit_cast(long long, value);
  const bool outward = (error > 0) == (bits < 0);
  const bool inexact = error > 0 || error < 0;
  const long long odd = (bits & 1) != 0 ? bits : outward ? bits - 1 : bits + 1;
  return __builtin_bit_cast(double, inexact ? odd : bits);
}

WF_INTRINSIC float to_odd_float(double value) {
  const float nearest = static_cast<float>(value);
  const double error = value - static_cast<double>(nearest);
  const int bits = __builtin_bit_cast(int, nearest);
  const bool outward = (error > 0) == (bits < 0);
  const bool inexact = error > 0 || error < 0;
  const int odd = (bits & 1) != 0 ? bits : outward ? bits - 1 : bits + 1;
  return __builtin_bit_cast(float, inexact ? odd : bits);
}

// a * b + c of numbers with at most 11 bits, rounded to odd: the product is exact in double, and
// the error of the sum is found by Knuth's two-sum.
WF_INTRINSIC float fused_to_odd(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = c;
  const double sum = product + addend;
  const double of_addend = sum - product;
  const double of_product = sum - of_addend;
  const double lost_product = product - of_product;
  const double lost_addend = addend - of_addend;
  return to_odd_float(to_odd(sum, lost_product + lost_addend));
}

WF_INTRINSIC unsigned short half_bits(float value) {
  const unsigned short bits =
      __builtin_bit_cast(unsigned short, static_cast<_Float16>(value));  // vcvtps2ph
  return value == value ? bits : 0x7fff;
}
WF_INTRINSIC float half_value(unsigned short bits) {
  return static_cast<float>(__builtin_bit_cast(_Float16, bits));
}

WF_INTRINSIC unsigned short bfloat16_bits(float value) {
  const unsigned bits = __builtin_bit_cast(unsigned, value);
  const unsigned rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return value == value ? static_cast<unsigned short>(rounded) : 0x7fff;
}
WF_INTRINSIC float bfloat16_value(unsigned short bits) {
  return __builtin_bit_cast(float, static_cast<unsigned>(bits) << 16);
}

// Neighbours in the order of the real numbers, for directed rounding; not for NaN. Up from the
// largest finite number is infinity.
WF_INTRINSIC unsigned short next_up(unsigned short bits) {
  if ((bits & 0x7fffu) == 0) return 1;
  return static_cast<unsigned short>((bits & 0x8000u) != 0 ? bits - 1 : bits + 1);
}
WF_INTRINSIC unsigned short next_down(unsigned short bits) {
  return static_cast<unsigned short>(next_up(static_cast<unsigned short>(bits ^ 0x8000u)) ^
                                     0x8000u);
}

// Round to nearest gave `nearest`, whose value is `rounded`: correct it in the wanted direction.
WF_INTRINSIC unsigned short directed_up(unsigned short nearest, double rounded, double exact) {
  return rounded < exact ? next_up(nearest) : nearest;
}
WF_INTRINSIC unsigned short directed_down(unsigned short nearest, double rounded, double exact) {
  return rounded > exact ? next_down(nearest) : nearest;
}

}  // namespace wf_fp
