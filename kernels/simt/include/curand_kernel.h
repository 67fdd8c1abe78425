// Random numbers in kernels: the generators Philox4_32_10 and XORWOW, uniform, normal and
// log-normal distributions, with the names and, for integers and uniform numbers, the bits of
// CUDA's <curand_kernel.h>. Normal numbers come from this machine's log, sin and cos: within a few
// units in the last place. Not here: the other generators, Poisson and discrete distributions.
#pragma once

#include "cuda_runtime.h"
#include "wf_curand_philox.h"
#include "wf_curand_xorwow.h"

typedef curandStateXORWOW_t curandState_t;
typedef curandStateXORWOW_t curandState;

namespace wf_random {

// (0, 1]
WF_INTRINSIC float uniform(unsigned x) { return static_cast<float>(x) * 0x1p-32f + 0x1p-33f; }
WF_INTRINSIC double uniform53(unsigned low, unsigned high) {
  const unsigned long long bits = low ^ static_cast<unsigned long long>(high) << 21;
  return static_cast<double>(bits) * 0x1p-53 + 0x1p-54;
}

// Two normal numbers from two words (Box and Muller 1958), sine first.
inline float2 normal_pair(unsigned x, unsigned y) {
  const float angle = static_cast<float>(y) * (0x1p-32f * 6.2831855f) + 0x1p-33f * 6.2831855f;
  const float radius = sqrtf(-2.0f * logf(uniform(x)));
  return {sinf(angle) * radius, cosf(angle) * radius};
}
inline double2 normal_pair(unsigned x_low, unsigned x_high, unsigned y_low, unsigned y_high) {
  const unsigned long long bits = y_low ^ static_cast<unsigned long long>(y_high) << 21;
  const double half_turns = static_cast<double>(bits) * 0x1p-52 + 0x1p-53;
  const double radius = sqrt(-2.0 * log(uniform53(x_low, x_high)));
  return {sinpi(half_turns) * radius, cospi(half_turns) * radius};
}

}  // namespace wf_random

#define WF_RANDOM        \
  template <class State> \
  WF_INTRINSIC
WF_RANDOM float curand_uniform(State* state) { return wf_random::uniform(curand(state)); }
WF_RANDOM float2 curand_uniform2(State* state) {
  const unsigned x = curand(state);
  return {wf_random::uniform(x), wf_random::uniform(curand(state))};
}
WF_INTRINSIC float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return {wf_random::uniform(x.x), wf_random::uniform(x.y), wf_random::uniform(x.z),
          wf_random::uniform(x.w)};
}
WF_INTRINSIC double curand_uniform_double(curandStateXORWOW_t* state) {
  const unsigned low = curand(state);
  return wf_random::uniform53(low, curand(state));
}
// With 32 bits, where curand_uniform2_double has 53.
WF_INTRINSIC double curand_uniform_double(curandStatePhilox4_32_10_t* state) {
  return static_cast<double>(curand(state)) * 0x1p-32 + 0x1p-32;
}
WF_INTRINSIC double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return {wf_random::uniform53(x.x, x.y), wf_random::uniform53(x.z, x.w)};
}

WF_RANDOM float2 curand_normal2(State* state) {
  const unsigned x = curand(state);
  return wf_random::normal_pair(x, curand(state));
}
// The second number of a pair is kept for the next call.
WF_RANDOM float curand_normal(State* state) {
  if (state->has_spare) {
    state->has_spare = false;
    return state->spare;
  }
  const float2 pair = curand_normal2(state);
  state->has_spare = true;
  state->spare = pair.y;
  return pair.x;
}
WF_INTRINSIC float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  const float2 first = wf_random::normal_pair(x.x, x.y);
  const float2 second = wf_random::normal_pair(x.z, x.w);
  return {first.x, first.y, second.x, second.y};
}
WF_INTRINSIC double2 curand_normal2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return wf_random::normal_pair(x.x, x.y, x.z, x.w);
}
WF_INTRINSIC double2 curand_normal2_double(curandStateXORWOW_t* state) {
  const unsigned a = curand(state), b = curand(state), c = curand(state);
  return wf_random::normal_pair(a, b, c, curand(state));
}
WF_RANDOM double curand_normal_double(State* state) {
  if (state->has_spare_double) {
    state->has_spare_double = false;
    return state->spare_double;
  }
  const double2 pair = curand_normal2_double(state);
  state->has_spare_double = true;
  state->spare_double = pair.y;
  return pair.x;
}
WF_RANDOM float curand_log_normal(State* state, float mean, float deviation) {
  return expf(mean + deviation * curand_normal(state));
}
WF_RANDOM double curand_log_normal_double(State* state, double mean, double deviation) {
  return exp(mean + deviation * curand_normal_double(state));
}
#undef WF_RANDOM
