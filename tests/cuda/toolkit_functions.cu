// Functions whose bits NVIDIA defines, over arrays and in host code, so that this file compiles
// with our headers as with those of a CUDA toolkit and a plain C++ compiler: toolkit_test.cc
// compares the two. Every function has the form  void f(const In* in, Out* out, size_t count).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <curand_kernel.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#define MAP(name, In, Out, expression)                              \
  extern "C" void name(const In* in, Out* out, std::size_t count) { \
    for (std::size_t i = 0; i < count; ++i) {                       \
      const In v = in[i];                                           \
      out[i] = static_cast<Out>(expression);                        \
    }                                                               \
  }

static __half_raw half_raw(uint16_t bits) {
  __half_raw raw;
  raw.x = bits;
  return raw;
}
static __nv_bfloat16_raw bfloat16_raw(uint16_t bits) {
  __nv_bfloat16_raw raw;
  raw.x = bits;
  return raw;
}
static __half half_of(uint32_t bits) { return __half(half_raw(static_cast<uint16_t>(bits))); }
static __nv_bfloat16 bfloat16_of(uint32_t bits) {
  return __nv_bfloat16(bfloat16_raw(static_cast<uint16_t>(bits)));
}
static uint16_t bits(__half value) { return __half_raw(value).x; }
static uint16_t bits(__nv_bfloat16 value) { return __nv_bfloat16_raw(value).x; }
static uint32_t bits(float value) {
  uint32_t word;
  std::memcpy(&word, &value, sizeof word);
  return word;
}

#define FP8(kind, KIND, mode, MODE)                                                      \
  MAP(float_to_##kind##_##mode, float, uint8_t, __nv_cvt_float_to_fp8(v, MODE, KIND))    \
  MAP(double_to_##kind##_##mode, double, uint8_t, __nv_cvt_double_to_fp8(v, MODE, KIND)) \
  MAP(half_to_##kind##_##mode, uint16_t, uint8_t,                                        \
      __nv_cvt_halfraw_to_fp8(half_raw(v), MODE, KIND))                                  \
  MAP(bfloat16_to_##kind##_##mode, uint16_t, uint8_t,                                    \
      __nv_cvt_bfloat16raw_to_fp8(bfloat16_raw(v), MODE, KIND))                          \
  MAP(pair_to_##kind##_##mode, float, uint16_t,                                          \
      __nv_cvt_float2_to_fp8x2(make_float2(v, 3 - v), MODE, KIND))
FP8(e4m3, __NV_E4M3, saturated, __NV_SATFINITE)
FP8(e4m3, __NV_E4M3, unsaturated, __NV_NOSAT)
FP8(e5m2, __NV_E5M2, saturated, __NV_SATFINITE)
FP8(e5m2, __NV_E5M2, unsaturated, __NV_NOSAT)
MAP(e4m3_to_half, uint8_t, uint16_t, __nv_cvt_fp8_to_halfraw(v, __NV_E4M3).x)
MAP(e5m2_to_half, uint8_t, uint16_t, __nv_cvt_fp8_to_halfraw(v, __NV_E5M2).x)

#define CLASS(type, name)                                                                        \
  MAP(name##_of_float, float, uint8_t, type(v).__x)                                              \
  MAP(name##_of_int, int32_t, uint8_t, type(v).__x)                                              \
  static type name##_number(uint8_t bits) {                                                      \
    type number;                                                                                 \
    number.__x = bits;                                                                           \
    return number;                                                                               \
  }                                                                                              \
  MAP(name##_as_float, uint8_t, uint32_t, bits(static_cast<float>(name##_number(v))))            \
  MAP(name##_as_bfloat16, uint8_t, uint16_t, bits(static_cast<__nv_bfloat16>(name##_number(v)))) \
  MAP(name##_as_int, uint8_t, int32_t, static_cast<int>(name##_number(v)))                       \
  MAP(name##_as_char, uint8_t, int8_t, static_cast<signed char>(name##_number(v)))
CLASS(__nv_fp8_e4m3, class_e4m3)
CLASS(__nv_fp8_e5m2, class_e5m2)

#define SMALL_FLOAT(name, raw)                                                    \
  MAP(float_to_##name##_rn, float, uint16_t, bits(__float2##name##_rn(v)))        \
  MAP(float_to_##name##_rz, float, uint16_t, bits(__float2##name##_rz(v)))        \
  MAP(float_to_##name##_ru, float, uint16_t, bits(__float2##name##_ru(v)))        \
  MAP(float_to_##name##_rd, float, uint16_t, bits(__float2##name##_rd(v)))        \
  MAP(double_to_##name, double, uint16_t, bits(__double2##name(v)))               \
  MAP(int_to_##name##_rn, int32_t, uint16_t, bits(__int2##name##_rn(v)))          \
  MAP(name##_to_float, uint16_t, uint32_t, bits(__##name##2float(raw(v))))        \
  MAP(name##_to_int_rz, uint16_t, int32_t, __##name##2int_rz(raw(v)))             \
  MAP(name##_to_short_rz, uint16_t, int16_t, __##name##2short_rz(raw(v)))         \
  MAP(name##_to_uint_rz, uint16_t, uint32_t, __##name##2uint_rz(raw(v)))          \
  /* Two numbers in a word. */                                                    \
  MAP(name##_add, uint32_t, uint16_t, bits(__hadd(raw(v), raw(v >> 16))))         \
  MAP(name##_sub, uint32_t, uint16_t, bits(__hsub(raw(v), raw(v >> 16))))         \
  MAP(name##_mul, uint32_t, uint16_t, bits(__hmul(raw(v), raw(v >> 16))))         \
  MAP(name##_div, uint32_t, uint16_t, bits(__hdiv(raw(v), raw(v >> 16))))         \
  MAP(name##_max, uint32_t, uint16_t, bits(__hmax(raw(v), raw(v >> 16))))         \
  MAP(name##_min, uint32_t, uint16_t, bits(__hmin(raw(v), raw(v >> 16))))         \
  MAP(name##_max_nan, uint32_t, uint16_t, bits(__hmax_nan(raw(v), raw(v >> 16)))) \
  MAP(name##_less, uint32_t, uint8_t, __hlt(raw(v), raw(v >> 16)))                \
  MAP(name##_equal, uint32_t, uint8_t, __heq(raw(v), raw(v >> 16)))
SMALL_FLOAT(half, half_of)
SMALL_FLOAT(bfloat16, bfloat16_of)

// The i-th word seeds a generator; the result mixes what it gives.
template <class State>
static uint32_t numbers(uint32_t word) {
  State state;
  curand_init(0x100000001ull * word, word % 7, word % 1000003, &state);
  uint32_t mixed = 0;
  for (int i = 0; i < 5; ++i) mixed = 31 * mixed + curand(&state);
  skipahead(static_cast<unsigned long long>(word), &state);
  mixed = 31 * mixed + bits(curand_uniform(&state));
  const double wide = curand_uniform_double(&state);
  return 31 * mixed + bits(static_cast<float>(wide)) + curand(&state);
}
MAP(philox, uint32_t, uint32_t, numbers<curandStatePhilox4_32_10_t>(v))
MAP(xorwow, uint32_t, uint32_t, numbers<curandStateXORWOW_t>(v))
