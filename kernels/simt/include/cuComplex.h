// Complex numbers as CUDA's <cuComplex.h> has them: pairs, x real and y imaginary.
#pragma once

#include "math_functions.h"
#include "vector_functions.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define WF_COMPLEX(type, number, suffix)                                                  \
  WF_INTRINSIC type make_##type(number x, number y) { return {x, y}; }                    \
  WF_INTRINSIC number cuCreal##suffix(type a) { return a.x; }                             \
  WF_INTRINSIC number cuCimag##suffix(type a) { return a.y; }                             \
  WF_INTRINSIC type cuConj##suffix(type a) { return {a.x, -a.y}; }                        \
  WF_INTRINSIC type cuCadd##suffix(type a, type b) { return {a.x + b.x, a.y + b.y}; }     \
  WF_INTRINSIC type cuCsub##suffix(type a, type b) { return {a.x - b.x, a.y - b.y}; }     \
  WF_INTRINSIC type cuCmul##suffix(type a, type b) {                                      \
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                                \
  }                                                                                       \
  /* Scaled, so that no square overflows. */                                              \
  WF_INTRINSIC type cuCdiv##suffix(type a, type b) {                                      \
    const number scale = 1 / (__builtin_fabs##suffix(b.x) + __builtin_fabs##suffix(b.y)); \
    const type p = {a.x * scale, a.y * scale}, q = {b.x * scale, b.y * scale};            \
    const number inverse = 1 / (q.x * q.x + q.y * q.y);                                   \
    return {(p.x * q.x + p.y * q.y) * inverse, (p.y * q.x - p.x * q.y) * inverse};        \
  }                                                                                       \
  WF_INTRINSIC number cuCabs##suffix(type a) { return hypot##suffix(a.x, a.y); }          \
  WF_INTRINSIC type cuCfma##suffix(type a, type b, type c) {                              \
    return cuCadd##suffix(cuCmul##suffix(a, b), c);                                       \
  }
WF_COMPLEX(cuFloatComplex, float, f)
WF_COMPLEX(cuDoubleComplex, double, )
#undef WF_COMPLEX
WF_INTRINSIC cuComplex make_cuComplex(float x, float y) { return {x, y}; }
WF_INTRINSIC cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return {a.x, a.y}; }
WF_INTRINSIC cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
  return {static_cast<float>(a.x), static_cast<float>(a.y)};
}
