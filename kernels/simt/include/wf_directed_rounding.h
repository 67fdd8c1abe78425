// Arithmetic in a stated rounding mode: __fadd_rz, __dmul_ru, __fmaf_rd ... and the _rn forms,
// which also promise not to be contracted into a fused multiply-add.
#pragma once
#pragma GCC system_header  // may use assembler, which the rewriter refuses in user code

#include "host_defines.h"

namespace wf_math {

// Rounding fields of MXCSR.
enum Rounding : unsigned { nearest = 0x0000, down = 0x2000, up = 0x4000, zero = 0x6000 };

// While one lives, the processor rounds as stated. The operation must be a volatile asm, so that
// the compiler neither moves it out of the scope nor evaluates it itself.
class RoundingScope {
 public:
  WF_INTRINSIC explicit RoundingScope(Rounding rounding) {
    __asm__ volatile("stmxcsr %0" : "=m"(saved_));
    const unsigned wanted = (saved_ & ~0x6000u) | rounding;
    __asm__ volatile("ldmxcsr %0" : : "m"(wanted));
  }
  WF_INTRINSIC ~RoundingScope() { __asm__ volatile("ldmxcsr %0" : : "m"(saved_)); }

 private:
  unsigned saved_;
};

#define WF_DIRECTED_BINARY(name, type, instruction)                              \
  WF_INTRINSIC type name(type a, type b, Rounding rounding) {                    \
    const RoundingScope scope(rounding);                                         \
    type result;                                                                 \
    __asm__ volatile(instruction " %2, %1, %0" : "=x"(result) : "x"(a), "x"(b)); \
    return result;                                                               \
  }
#define WF_DIRECTED_FMA(name, type, instruction)                            \
  WF_INTRINSIC type name(type a, type b, type c, Rounding rounding) {       \
    const RoundingScope scope(rounding);                                    \
    __asm__ volatile(instruction " %2, %1, %0" : "+x"(c) : "x"(a), "x"(b)); \
    return c;                                                               \
  }
WF_DIRECTED_BINARY(add, float, "vaddss")
WF_DIRECTED_BINARY(sub, float, "vsubss")
WF_DIRECTED_BINARY(mul, float, "vmulss")
WF_DIRECTED_BINARY(div, float, "vdivss")
WF_DIRECTED_BINARY(add, double, "vaddsd")
WF_DIRECTED_BINARY(sub, double, "vsubsd")
WF_DIRECTED_BINARY(mul, double, "vmulsd")
WF_DIRECTED_BINARY(div, double, "vdivsd")
WF_DIRECTED_FMA(fused, float, "vfmadd231ss")
WF_DIRECTED_FMA(fused, double, "vfmadd231sd")
#undef WF_DIRECTED_BINARY
#undef WF_DIRECTED_FMA

WF_INTRINSIC float square_root(float a, Rounding rounding) {
  const RoundingScope scope(rounding);
  float result;
  __asm__ volatile("vsqrtss %1, %1, %0" : "=x"(result) : "x"(a));
  return result;
}
WF_INTRINSIC double square_root(double a, Rounding rounding) {
  const RoundingScope scope(rounding);
  double result;
  __asm__ volatile("vsqrtsd %1, %1, %0" : "=x"(result) : "x"(a));
  return result;
}
WF_INTRINSIC float narrow(double a, Rounding rounding) {
  const RoundingScope scope(rounding);
  float result;
  __asm__ volatile("vcvtsd2ss %1, %1, %0" : "=x"(result) : "x"(a));
  return result;
}

}  // namespace wf_math

#define WF_DIRECTED(type, prefix, fma_name, suffix, mode)         \
  WF_INTRINSIC type prefix##add_##suffix(type a, type b) {        \
    return wf_math::add(a, b, wf_math::mode);                     \
  }                                                               \
  WF_INTRINSIC type prefix##sub_##suffix(type a, type b) {        \
    return wf_math::sub(a, b, wf_math::mode);                     \
  }                                                               \
  WF_INTRINSIC type prefix##mul_##suffix(type a, type b) {        \
    return wf_math::mul(a, b, wf_math::mode);                     \
  }                                                               \
  WF_INTRINSIC type prefix##div_##suffix(type a, type b) {        \
    return wf_math::div(a, b, wf_math::mode);                     \
  }                                                               \
  WF_INTRINSIC type prefix##rcp_##suffix(type a) {                \
    return wf_math::div(type(1), a, wf_math::mode);               \
  }                                                               \
  WF_INTRINSIC type prefix##sqrt_##suffix(type a) {               \
    return wf_math::square_root(a, wf_math::mode);                \
  }                                                               \
  WF_INTRINSIC type fma_name##_##suffix(type a, type b, type c) { \
    return wf_math::fused(a, b, c, wf_math::mode);                \
  }
WF_DIRECTED(float, __f, __fmaf, rz, zero)
WF_DIRECTED(float, __f, __fmaf, ru, up)
WF_DIRECTED(float, __f, __fmaf, rd, down)
WF_DIRECTED(double, __d, __fma, rz, zero)
WF_DIRECTED(double, __d, __fma, ru, up)
WF_DIRECTED(double, __d, __fma, rd, down)
#undef WF_DIRECTED

// Not affected by flags that flush subnormals, of which there are none here.
#define __fmaf_ieee_rn __fmaf_rn
#define __fmaf_ieee_rz __fmaf_rz
#define __fmaf_ieee_ru __fmaf_ru
#define __fmaf_ieee_rd __fmaf_rd

WF_INTRINSIC float __fadd_rn(float a, float b) { return a + b; }
WF_INTRINSIC float __fsub_rn(float a, float b) { return a - b; }
WF_INTRINSIC float __fmul_rn(float a, float b) { return a * b; }
WF_INTRINSIC float __fdiv_rn(float a, float b) { return a / b; }
WF_INTRINSIC float __frcp_rn(float a) { return 1.0f / a; }
WF_INTRINSIC float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
WF_INTRINSIC float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WF_INTRINSIC double __dadd_rn(double a, double b) { return a + b; }
WF_INTRINSIC double __dsub_rn(double a, double b) { return a - b; }
WF_INTRINSIC double __dmul_rn(double a, double b) { return a * b; }
WF_INTRINSIC double __ddiv_rn(double a, double b) { return a / b; }
WF_INTRINSIC double __drcp_rn(double a) { return 1.0 / a; }
WF_INTRINSIC double __dsqrt_rn(double a) { return __builtin_sqrt(a); }
WF_INTRINSIC double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
