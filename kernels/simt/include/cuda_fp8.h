// 8-bit floating point for the CPU device: e4m3 (no infinities, largest 448) and e5m2 (IEEE-like,
// largest 57344), with the names of CUDA's <cuda_fp8.h>. Conversions round once, to nearest even,
// and saturate on request; NaN is 0x7f (0x7e where a double becomes e5m2, as in CUDA). There is no
// arithmetic, as on the GPU. Not here: e8m0.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

namespace wf_fp8 {

struct Format {
  int fraction_bits;
  int bias;
  unsigned largest;   // bits of the largest finite number
  unsigned overflow;  // bits of what lies above it
};
WF_INTRINSIC constexpr Format format(__nv_fp8_interpretation_t kind) {
  return kind == __NV_E4M3 ? Format{3, 7, 0x7e, 0x7f} : Format{2, 15, 0x7b, 0x7c};
}

// Every source type fits double exactly.
inline __nv_fp8_storage_t from_double(double value, __nv_saturation_t saturate,
                                      __nv_fp8_interpretation_t kind,
                                      __nv_fp8_storage_t nan = 0x7f) {
  const Format f = format(kind);
  const unsigned sign = __builtin_signbit(value) ? 0x80 : 0;
  const double magnitude = __builtin_fabs(value);
  if (magnitude != magnitude) return nan;
  unsigned bits = 0;
  if (magnitude >= 0x1p17) {
    bits = f.largest + 1;
  } else if (magnitude > 0) {
    const int least = 1 - f.bias;  // exponent of subnormals
    const int exponent =
        magnitude < __builtin_ldexp(1.0, least) ? least : __builtin_ilogb(magnitude);
    const double units = __builtin_rint(__builtin_ldexp(magnitude, f.fraction_bits - exponent));
    // The implicit bit of a normal number counts as one step of the exponent.
    bits =
        (static_cast<unsigned>(exponent - least) << f.fraction_bits) + static_cast<unsigned>(units);
  }
  if (bits > f.largest) bits = saturate == __NV_SATFINITE ? f.largest : f.overflow;
  return static_cast<__nv_fp8_storage_t>(sign | bits);
}

inline float to_float(__nv_fp8_storage_t value, __nv_fp8_interpretation_t kind) {
  const Format f = format(kind);
  const unsigned bits = value & 0x7fu;
  if (bits > f.largest) {
    const bool infinite = kind == __NV_E5M2 && bits == f.overflow;
    return !infinite              ? __builtin_bit_cast(float, 0x7fffffffu)
           : (value & 0x80u) != 0 ? -INFINITY
                                  : INFINITY;
  }
  const unsigned exponent = bits >> f.fraction_bits;
  const unsigned fraction = bits & ((1u << f.fraction_bits) - 1);
  const unsigned significand = exponent == 0 ? fraction : fraction | 1u << f.fraction_bits;
  const int scale = static_cast<int>(exponent == 0 ? 1 : exponent) - f.bias - f.fraction_bits;
  const float magnitude = __builtin_ldexpf(static_cast<float>(significand), scale);
  return (value & 0x80u) != 0 ? -magnitude : magnitude;
}

WF_INTRINSIC float value_of(__half_raw raw) { return wf_fp::half_value(raw.x); }
WF_INTRINSIC float value_of(__nv_bfloat16_raw raw) { return wf_fp::bfloat16_value(raw.x); }

template <class Integer>
WF_INTRINSIC Integer to_integer(float value) {
  if constexpr (sizeof(Integer) < 4) {
    return wf_math::narrow_integer<Integer>(value);
  } else if constexpr (sizeof(Integer) == 4) {
    return static_cast<Integer>(-1) < 0 ? static_cast<Integer>(__float2int_rz(value))
                                        : static_cast<Integer>(__float2uint_rz(value));
  } else {
    return static_cast<Integer>(-1) < 0 ? static_cast<Integer>(__float2ll_rz(value))
                                        : static_cast<Integer>(__float2ull_rz(value));
  }
}

}  // namespace wf_fp8

#define WF_TO_FP8(name, type, ...)                                                             \
  WF_INTRINSIC __nv_fp8_storage_t __nv_cvt_##name##_to_fp8(type v, __nv_saturation_t saturate, \
                                                           __nv_fp8_interpretation_t kind) {   \
    return wf_fp8::from_double(__VA_ARGS__);                                                   \
  }
#define WF_TO_FP8X2(name, type)                                                             \
  WF_INTRINSIC __nv_fp8x2_storage_t __nv_cvt_##name##2_to_fp8x2(                            \
      type v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {                 \
    const unsigned low = __nv_cvt_##name##_to_fp8({v.x}, saturate, kind);                   \
    return static_cast<__nv_fp8x2_storage_t>(                                               \
        low | static_cast<unsigned>(__nv_cvt_##name##_to_fp8({v.y}, saturate, kind)) << 8); \
  }
WF_TO_FP8(double, double, v, saturate, kind, kind == __NV_E5M2 ? 0x7e : 0x7f)
WF_TO_FP8(float, float, static_cast<double>(v), saturate, kind)
WF_TO_FP8(halfraw, __half_raw, wf_fp8::value_of(v), saturate, kind)
WF_TO_FP8(bfloat16raw, __nv_bfloat16_raw, wf_fp8::value_of(v), saturate, kind)
WF_TO_FP8X2(double, double2)
WF_TO_FP8X2(float, float2)
WF_TO_FP8X2(halfraw, __half2_raw)
WF_TO_FP8X2(bfloat16raw, __nv_bfloat162_raw)
#undef WF_TO_FP8
#undef WF_TO_FP8X2
WF_INTRINSIC __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t v,
                                                __nv_fp8_interpretation_t kind) {
  return {wf_fp::half_bits(wf_fp8::to_float(v, kind))};
}
WF_INTRINSIC __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t v,
                                                    __nv_fp8_interpretation_t kind) {
  return {__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(v), kind).x,
          __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(v >> 8), kind).x};
}

namespace wf_fp8 {

// Conversions into the classes saturate.
template <__nv_fp8_interpretation_t Kind>
struct Number {
  __nv_fp8_storage_t __x;

  Number() = default;
  WF_INTRINSIC explicit Number(double v) : __x(__nv_cvt_double_to_fp8(v, __NV_SATFINITE, Kind)) {}
  WF_INTRINSIC explicit Number(float v) : __x(__nv_cvt_float_to_fp8(v, __NV_SATFINITE, Kind)) {}
  WF_INTRINSIC explicit Number(__half v) : Number(v.wf_value()) {}
  WF_INTRINSIC explicit Number(__nv_bfloat16 v) : Number(v.wf_value()) {}
  // Integers beyond 2^24 are beyond the largest number too.
  WF_INTRINSIC explicit Number(short v) : Number(static_cast<float>(v)) {}
  WF_INTRINSIC explicit Number(unsigned short v) : Number(static_cast<float>(v)) {}
  WF_INTRINSIC explicit Number(int v) : Number(static_cast<float>(v)) {}
  WF_INTRINSIC explicit Number(unsigned v) : Number(static_cast<float>(v)) {}
  WF_INTRINSIC explicit Number(long v) : Number(static_cast<float>(v)) {}
  WF_INTRINSIC explicit Number(unsigned long v) : Number(static_cast<float>(v)) {}
  WF_INTRINSIC explicit Number(long long v) : Number(static_cast<float>(v)) {}
  WF_INTRINSIC explicit Number(unsigned long long v) : Number(static_cast<float>(v)) {}

  WF_INTRINSIC explicit operator float() const { return to_float(__x, Kind); }
  WF_INTRINSIC explicit operator double() const { return to_float(__x, Kind); }
  WF_INTRINSIC explicit operator __half() const { return __nv_cvt_fp8_to_halfraw(__x, Kind); }
  WF_INTRINSIC explicit operator __nv_bfloat16() const {
    return __float2bfloat16_rz(to_float(__x, Kind));
  }
  WF_INTRINSIC explicit operator bool() const { return (__x & 0x7fu) != 0; }
#define WF_TO(type) \
  WF_INTRINSIC explicit operator type() const { return to_integer<type>(to_float(__x, Kind)); }
  WF_TO(char)
  WF_TO(signed char)
  WF_TO(unsigned char)
  WF_TO(short)
  WF_TO(unsigned short)
  WF_TO(int)
  WF_TO(unsigned)
  WF_TO(long)
  WF_TO(unsigned long)
  WF_TO(long long)
  WF_TO(unsigned long long)
#undef WF_TO
};

template <__nv_fp8_interpretation_t Kind>
struct __attribute__((aligned(2))) Pair {
  __nv_fp8x2_storage_t __x;

  Pair() = default;
  WF_INTRINSIC explicit Pair(float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, Kind)) {}
  WF_INTRINSIC explicit Pair(double2 v) : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, Kind)) {}
  WF_INTRINSIC explicit Pair(__half2 v)
      : __x(__nv_cvt_halfraw2_to_fp8x2(v, __NV_SATFINITE, Kind)) {}
  WF_INTRINSIC explicit Pair(__nv_bfloat162 v)
      : __x(__nv_cvt_bfloat16raw2_to_fp8x2(v, __NV_SATFINITE, Kind)) {}
  WF_INTRINSIC explicit operator __half2() const { return __nv_cvt_fp8x2_to_halfraw2(__x, Kind); }
  WF_INTRINSIC explicit operator float2() const {
    return {to_float(static_cast<__nv_fp8_storage_t>(__x), Kind),
            to_float(static_cast<__nv_fp8_storage_t>(__x >> 8), Kind)};
  }
};

template <__nv_fp8_interpretation_t Kind>
struct __attribute__((aligned(4))) Quad {
  __nv_fp8x4_storage_t __x;

  Quad() = default;
  WF_INTRINSIC explicit Quad(float4 v)
      : Quad(Pair<Kind>(float2{v.x, v.y}), Pair<Kind>(float2{v.z, v.w})) {}
  WF_INTRINSIC explicit Quad(double4 v)
      : Quad(Pair<Kind>(double2{v.x, v.y}), Pair<Kind>(double2{v.z, v.w})) {}
  WF_INTRINSIC explicit Quad(__half2 low, __half2 high) : Quad(Pair<Kind>(low), Pair<Kind>(high)) {}
  WF_INTRINSIC explicit Quad(__nv_bfloat162 low, __nv_bfloat162 high)
      : Quad(Pair<Kind>(low), Pair<Kind>(high)) {}
  WF_INTRINSIC explicit operator float4() const {
    const auto at = [this](int i) {
      return to_float(static_cast<__nv_fp8_storage_t>(__x >> (8 * i)), Kind);
    };
    return {at(0), at(1), at(2), at(3)};
  }

 private:
  WF_INTRINSIC Quad(Pair<Kind> low, Pair<Kind> high)
      : __x(low.__x | static_cast<unsigned>(high.__x) << 16) {}
};

}  // namespace wf_fp8

#define WF_FP8_CLASS(name, base, kind) \
  struct name : wf_fp8::base<kind> {   \
    name() = default;                  \
    using wf_fp8::base<kind>::base;    \
  };
WF_FP8_CLASS(__nv_fp8_e4m3, Number, __NV_E4M3)
WF_FP8_CLASS(__nv_fp8_e5m2, Number, __NV_E5M2)
WF_FP8_CLASS(__nv_fp8x2_e4m3, Pair, __NV_E4M3)
WF_FP8_CLASS(__nv_fp8x2_e5m2, Pair, __NV_E5M2)
WF_FP8_CLASS(__nv_fp8x4_e4m3, Quad, __NV_E4M3)
WF_FP8_CLASS(__nv_fp8x4_e5m2, Quad, __NV_E5M2)
#undef WF_FP8_CLASS
