// CUDA's mathematics: libm in float and double, what CUDA has beyond it, and the fast-math
// intrinsics. The fast ones are built like those of the GPU (__expf as 2^(x log2 e)), so that their
// error grows with the argument as it does there, and __fdividef is 0 for divisors above 2^126.
#pragma once

// libstdc++ would add the special functions of C++17 to <math.h>, half of its text.
#include <bits/c++config.h>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#define _GLIBCXX_USE_STD_SPEC_FUNCS 0
#include <math.h>
#include <stdlib.h>

#include "host_defines.h"
#include "wf_directed_rounding.h"

// glibc declares functions with these names of CUDA's for itself.
#define __expf wf_expf
#define __exp10f wf_exp10f
#define __logf wf_logf
#define __log2f wf_log2f
#define __log10f wf_log10f
#define __powf wf_powf
#define __sinf wf_sinf
#define __cosf wf_cosf
#define __tanf wf_tanf
#define __tanhf wf_tanhf
#define __sincosf wf_sincosf

WF_INTRINSIC float wf_expf(float x) { return exp2f(x * 1.44269504f); }
WF_INTRINSIC float wf_exp10f(float x) { return exp2f(x * 3.32192809f); }
WF_INTRINSIC float wf_log2f(float x) { return log2f(x); }
WF_INTRINSIC float wf_logf(float x) { return log2f(x) * 0.693147181f; }
WF_INTRINSIC float wf_log10f(float x) { return log2f(x) * 0.301029996f; }
WF_INTRINSIC float wf_powf(float x, float y) { return exp2f(y * log2f(x)); }
WF_INTRINSIC float wf_sinf(float x) { return sinf(x); }
WF_INTRINSIC float wf_cosf(float x) { return cosf(x); }
WF_INTRINSIC float wf_tanf(float x) { return sinf(x) / cosf(x); }
WF_INTRINSIC float wf_tanhf(float x) { return tanhf(x); }
WF_INTRINSIC void wf_sincosf(float x, float* sine, float* cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}
WF_INTRINSIC float __fdividef(float x, float y) {
  const float magnitude = fabsf(y);
  const bool huge = magnitude > 0x1p126f && magnitude < INFINITY;
  return huge ? x * 0.0f : x / y;
}
WF_INTRINSIC float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
WF_INTRINSIC float __frsqrt_rn(float x) {
  return static_cast<float>(1.0 / sqrt(static_cast<double>(x)));
}

WF_INTRINSIC float fdividef(float x, float y) { return x / y; }
WF_INTRINSIC float saturatef(float x) { return __saturatef(x); }
WF_INTRINSIC float rsqrtf(float x) { return __frsqrt_rn(x); }
WF_INTRINSIC double rsqrt(double x) { return 1.0 / sqrt(x); }
WF_INTRINSIC float rsqrt(float x) { return rsqrtf(x); }
WF_INTRINSIC float rcbrtf(float x) { return 1.0f / cbrtf(x); }
WF_INTRINSIC double rcbrt(double x) { return 1.0 / cbrt(x); }
WF_INTRINSIC float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
WF_INTRINSIC double rhypot(double x, double y) { return 1.0 / hypot(x, y); }

WF_INTRINSIC float norm3df(float a, float b, float c) { return hypotf(hypotf(a, b), c); }
WF_INTRINSIC double norm3d(double a, double b, double c) { return hypot(hypot(a, b), c); }
WF_INTRINSIC float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
WF_INTRINSIC float norm4df(float a, float b, float c, float d) {
  return hypotf(hypotf(a, b), hypotf(c, d));
}
WF_INTRINSIC double norm4d(double a, double b, double c, double d) {
  return hypot(hypot(a, b), hypot(c, d));
}
inline float normf(int count, const float* values) {
  float norm = 0;
  for (int i = 0; i < count; ++i) norm = hypotf(norm, values[i]);
  return norm;
}
inline double norm(int count, const double* values) {
  double norm = 0;
  for (int i = 0; i < count; ++i) norm = hypot(norm, values[i]);
  return norm;
}

WF_INTRINSIC double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
WF_INTRINSIC float rnorm4df(float a, float b, float c, float d) {
  return 1.0f / norm4df(a, b, c, d);
}
WF_INTRINSIC double rnorm4d(double a, double b, double c, double d) {
  return 1.0 / norm4d(a, b, c, d);
}
inline float rnormf(int count, const float* values) { return 1.0f / normf(count, values); }
inline double rnorm(int count, const double* values) { return 1.0 / norm(count, values); }

// The modified Bessel functions of order 0 and 1, by their power series.
inline double cyl_bessel_i(int order, double x) {
  double term = order == 0 ? 1.0 : 0.5 * x;
  double sum = term;
  for (int k = 1; fabs(term) > 1e-17 * fabs(sum); ++k) {
    term *= 0.25 * x * x / (k * static_cast<double>(k + order));
    sum += term;
  }
  return sum;
}
inline double cyl_bessel_i0(double x) { return cyl_bessel_i(0, x); }
inline double cyl_bessel_i1(double x) { return cyl_bessel_i(1, x); }
inline float cyl_bessel_i0f(float x) { return static_cast<float>(cyl_bessel_i(0, x)); }
inline float cyl_bessel_i1f(float x) { return static_cast<float>(cyl_bessel_i(1, x)); }

// sin(pi x): the argument is reduced before it meets pi, so integers give exact zeros.
inline double sinpi(double x) {
  const double r = fmod(x, 2.0);
  if (r == 0.0 || fabs(r) == 1.0) return copysign(0.0, x);
  if (fabs(r) <= 0.25) return sin(M_PI * r);
  const double quarter = round(2.0 * r);
  const double rest = M_PI * (r - 0.5 * quarter);
  switch (static_cast<int>(quarter) & 3) {
    case 0:
      return sin(rest);
    case 1:
      return cos(rest);
    case 2:
      return -sin(rest);
    default:
      return -cos(rest);
  }
}
inline double cospi(double x) {
  const double r = fmod(fabs(x), 2.0);
  const double quarter = round(2.0 * r);
  const double rest = M_PI * (r - 0.5 * quarter);
  switch (static_cast<int>(quarter) & 3) {
    case 0:
      return cos(rest);
    case 1:
      return rest == 0.0 ? 0.0 : -sin(rest);
    case 2:
      return -cos(rest);
    default:
      return rest == 0.0 ? 0.0 : sin(rest);
  }
}
inline float sinpif(float x) { return static_cast<float>(sinpi(x)); }
inline float cospif(float x) { return static_cast<float>(cospi(x)); }
inline void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}

inline double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
inline float normcdff(float x) { return static_cast<float>(normcdf(x)); }
// exp(x^2) erfc(x); the continued fraction takes over where erfc would underflow.
inline double erfcx(double x) {
  if (x < 25.0) return exp(x * x) * erfc(x);
  const double s = 1.0 / (x * x);
  return (1.0 - 0.5 * s * (1.0 - 1.5 * s)) / (x * sqrt(M_PI));
}
inline float erfcxf(float x) { return static_cast<float>(erfcx(x)); }
// Newton's iteration on erf from a logarithmic first guess.
inline double erfinv(double y) {
  if (!(fabs(y) < 1.0)) return fabs(y) == 1.0 ? copysign(INFINITY, y) : NAN;
  const double w = log((1.0 - y) * (1.0 + y));
  const double t = 2.0 / (M_PI * 0.147) + 0.5 * w;
  double x = copysign(sqrt(sqrt(t * t - w / 0.147) - t), y);
  for (int i = 0; i < 4; ++i) {
    const double tail = (1.0 - fabs(y)) - erfc(fabs(x));
    const double error = fabs(x) < 1.0 ? erf(x) - y : y < 0 ? -tail : tail;
    const double step = error / (M_2_SQRTPI * exp(-x * x));
    x -= step / (1.0 + x * step);
  }
  return x;
}
inline float erfinvf(float y) { return static_cast<float>(erfinv(y)); }
inline double erfcinv(double y) { return erfinv(1.0 - y); }
inline float erfcinvf(float y) { return static_cast<float>(erfinv(1.0 - static_cast<double>(y))); }
inline double normcdfinv(double p) { return M_SQRT2 * erfinv(2.0 * p - 1.0); }
inline float normcdfinvf(float p) { return static_cast<float>(normcdfinv(p)); }

// min and max for every pair of types that CUDA accepts; for floats a NaN argument loses.
#define WF_MIN_MAX(type_a, type_b, result)                                           \
  WF_INTRINSIC constexpr result min(type_a a, type_b b) {                            \
    return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(a)  \
                                                           : static_cast<result>(b); \
  }                                                                                  \
  WF_INTRINSIC constexpr result max(type_a a, type_b b) {                            \
    return static_cast<result>(a) > static_cast<result>(b) ? static_cast<result>(a)  \
                                                           : static_cast<result>(b); \
  }
#define WF_INTEGER_MIN_MAX(type)                          \
  WF_MIN_MAX(type, type, type)                            \
  WF_MIN_MAX(unsigned type, unsigned type, unsigned type) \
  WF_MIN_MAX(type, unsigned type, unsigned type)          \
  WF_MIN_MAX(unsigned type, type, unsigned type)
WF_INTEGER_MIN_MAX(int)
WF_INTEGER_MIN_MAX(long)
WF_INTEGER_MIN_MAX(long long)
#undef WF_INTEGER_MIN_MAX
#undef WF_MIN_MAX
WF_INTRINSIC float min(float a, float b) { return fminf(a, b); }
WF_INTRINSIC float max(float a, float b) { return fmaxf(a, b); }
WF_INTRINSIC double min(double a, double b) { return fmin(a, b); }
WF_INTRINSIC double max(double a, double b) { return fmax(a, b); }
WF_INTRINSIC double min(float a, double b) { return fmin(static_cast<double>(a), b); }
WF_INTRINSIC double max(float a, double b) { return fmax(static_cast<double>(a), b); }
WF_INTRINSIC double min(double a, float b) { return fmin(a, static_cast<double>(b)); }
WF_INTRINSIC double max(double a, float b) { return fmax(a, static_cast<double>(b)); }
WF_INTRINSIC unsigned umin(unsigned a, unsigned b) { return min(a, b); }
WF_INTRINSIC unsigned umax(unsigned a, unsigned b) { return max(a, b); }
WF_INTRINSIC long long llmin(long long a, long long b) { return min(a, b); }
WF_INTRINSIC long long llmax(long long a, long long b) { return max(a, b); }
WF_INTRINSIC unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return min(a, b);
}
WF_INTRINSIC unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return max(a, b);
}
