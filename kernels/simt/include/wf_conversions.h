// Conversions between numbers, and between numbers and bits, as CUDA's cvt instruction does them:
// out of range saturates, NaN becomes 0 (the most negative number where 64-bit types take part).
#pragma once

#include "math_functions.h"

#define WF_BITS(name, from, to) \
  WF_INTRINSIC to name(from value) { return __builtin_bit_cast(to, value); }
WF_BITS(__float_as_int, float, int)
WF_BITS(__int_as_float, int, float)
WF_BITS(__float_as_uint, float, unsigned)
WF_BITS(__uint_as_float, unsigned, float)
WF_BITS(__double_as_longlong, double, long long)
WF_BITS(__longlong_as_double, long long, double)
#undef WF_BITS
WF_INTRINSIC int __double2hiint(double value) {
  return static_cast<int>(__builtin_bit_cast(long long, value) >> 32);
}
WF_INTRINSIC int __double2loint(double value) {
  return static_cast<int>(__builtin_bit_cast(long long, value));
}
WF_INTRINSIC double __hiloint2double(int high, int low) {
  const unsigned long long bits = static_cast<unsigned long long>(static_cast<unsigned>(high))
                                  << 32;
  return __builtin_bit_cast(double, bits | static_cast<unsigned>(low));
}

namespace wf_math {

// `value` is already rounded to an integer; `above` is the first power of two out of range.
template <class To, class From>
WF_INTRINSIC To saturate(From value, From above) {
  constexpr bool is_signed = static_cast<To>(-1) < 0;
  constexpr To most = is_signed ? static_cast<To>(~(static_cast<To>(1) << (sizeof(To) * 8 - 1)))
                                : static_cast<To>(-1);
  constexpr To least = static_cast<To>(~most);
  constexpr bool wide = sizeof(To) == 8 || sizeof(From) == 8;
  if (value != value) return wide ? static_cast<To>(static_cast<To>(1) << (sizeof(To) * 8 - 1)) : 0;
  if (value >= above) return most;
  if (value < (is_signed ? -above : From(0))) return least;
  return static_cast<To>(value);
}

}  // namespace wf_math

#define WF_TO_INTEGER(name, from, to, above)                                                 \
  WF_INTRINSIC to name##_rn(from v) { return wf_math::saturate<to, from>(rint(v), above); }  \
  WF_INTRINSIC to name##_rz(from v) { return wf_math::saturate<to, from>(trunc(v), above); } \
  WF_INTRINSIC to name##_ru(from v) { return wf_math::saturate<to, from>(ceil(v), above); }  \
  WF_INTRINSIC to name##_rd(from v) { return wf_math::saturate<to, from>(floor(v), above); }
WF_TO_INTEGER(__float2int, float, int, 0x1p31f)
WF_TO_INTEGER(__float2uint, float, unsigned, 0x1p32f)
WF_TO_INTEGER(__float2ll, float, long long, 0x1p63f)
WF_TO_INTEGER(__float2ull, float, unsigned long long, 0x1p64f)
WF_TO_INTEGER(__double2int, double, int, 0x1p31)
WF_TO_INTEGER(__double2uint, double, unsigned, 0x1p32)
WF_TO_INTEGER(__double2ll, double, long long, 0x1p63)
WF_TO_INTEGER(__double2ull, double, unsigned long long, 0x1p64)
#undef WF_TO_INTEGER

namespace wf_math {

// Toward zero, to a type narrower than int.
template <class Narrow>
WF_INTRINSIC Narrow narrow_integer(float value) {
  constexpr bool is_signed = static_cast<Narrow>(-1) < 0;
  constexpr int most = (1 << (8 * sizeof(Narrow) - is_signed)) - 1;
  constexpr int least = is_signed ? -most - 1 : 0;
  const int whole = __float2int_rz(value);
  return static_cast<Narrow>(whole > most ? most : whole < least ? least : whole);
}

}  // namespace wf_math

WF_INTRINSIC float __double2float_rn(double v) { return static_cast<float>(v); }
WF_INTRINSIC float __double2float_rz(double v) { return wf_math::narrow(v, wf_math::zero); }
WF_INTRINSIC float __double2float_ru(double v) { return wf_math::narrow(v, wf_math::up); }
WF_INTRINSIC float __double2float_rd(double v) { return wf_math::narrow(v, wf_math::down); }
WF_INTRINSIC double __int2double_rn(int v) { return v; }
WF_INTRINSIC double __uint2double_rn(unsigned v) { return v; }

namespace wf_math {

// An integer of 64 bits as the unrounded sum of two doubles, so that one directed addition rounds
// it.
template <class From>
WF_INTRINSIC double integer_to_double(From v, Rounding rounding) {
  const double high = static_cast<double>(v >> 32) * 0x1p32;
  return add(high, static_cast<double>(static_cast<unsigned>(v)), rounding);
}
// Rounding away the bits below float's in the integer keeps the second step exact in its direction.
template <class From>
WF_INTRINSIC float integer_to_float(From v, Rounding rounding) {
  return narrow(integer_to_double(v, rounding), rounding);
}

}  // namespace wf_math

#define WF_FROM_INTEGER(name, from, to, convert)                                   \
  WF_INTRINSIC to name##_rn(from v) { return static_cast<to>(v); }                 \
  WF_INTRINSIC to name##_rz(from v) { return wf_math::convert(v, wf_math::zero); } \
  WF_INTRINSIC to name##_ru(from v) { return wf_math::convert(v, wf_math::up); }   \
  WF_INTRINSIC to name##_rd(from v) { return wf_math::convert(v, wf_math::down); }
WF_FROM_INTEGER(__int2float, int, float, narrow)
WF_FROM_INTEGER(__uint2float, unsigned, float, narrow)
WF_FROM_INTEGER(__ll2float, long long, float, integer_to_float)
WF_FROM_INTEGER(__ull2float, unsigned long long, float, integer_to_float)
WF_FROM_INTEGER(__ll2double, long long, double, integer_to_double)
WF_FROM_INTEGER(__ull2double, unsigned long long, double, integer_to_double)
#undef WF_FROM_INTEGER
