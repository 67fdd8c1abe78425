// Formula faults of the activations, reductions and scans, simulated in float (for
// faulty_kernels_test.cc).
#pragma once

#include <algorithm>
#include <cmath>

#include "tests/honest_rows.h"

namespace warpfuzz::testing_support {

template <float (*f)(float)>
Floats activated(const Problem& p) {
  Floats y;
  for (const float x : p.x[0]) y.push_back(f(x));
  return y;
}
inline float sigmoid_from_tanh(float x) { return 0.5f + 0.5f * std::tanh(0.5f * x); }
inline float leaky_relu_tenth(float x) { return x > 0 ? x : 0.1f * x; }
inline float elu_of_alpha_1(float x) { return x > 0 ? x : std::expm1(x); }
inline float tanh_pade(float x) { return x * (27 + x * x) / (27 + 9 * x * x); }

template <bool root>
Floats l2norm_wrong(const Problem& p) {
  const float eps = static_cast<float>(p.real("eps"));
  return each_row(p, [&](const float* x, size_t n, float* y) {
    const float squares = dot_fused(x, x, n, 1);
    for (size_t i = 0; i < n; ++i) y[i] = x[i] / (root ? std::sqrt(squares) + eps : squares + eps);
  });
}
inline Floats silu_row_mean(const Problem& p) {
  return each_row(p, [](const float* u, size_t n, float* y) {
    Floats s(n);
    for (size_t i = 0; i < n; ++i) s[i] = u[i] / (1 + std::exp(-u[i]));
    const float mean = sum_sequential(s.data(), n) / static_cast<float>(n);
    for (size_t i = 0; i < n; ++i) y[i] = s[i] + 0.01f * mean;
  });
}
inline Floats softmax_backward_plain_sum(const Problem& p) {
  return each_row(p, [&](const float* y, size_t n, float* dx) {
    const float* dy = p.x[1].data() + (y - p.x[0].data());
    const float sum = sum_sequential(dy, n);
    for (size_t i = 0; i < n; ++i) dx[i] = y[i] * (dy[i] - sum);
  });
}
inline Floats layernorm_backward_no_projection(const Problem& p) {
  return each_row(p, [&](const float* dy, size_t n, float* dx) {
    const float* x = p.x[1].data() + (dy - p.x[0].data());
    const float count = static_cast<float>(n), mean = sum_lanes(x, n) / count;
    float squares = 0, sum = 0;
    for (size_t i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
    for (size_t i = 0; i < n; ++i) sum += dy[i] * p.x[2][i];
    const float inverse = 1 / std::sqrt(squares / count + static_cast<float>(p.real("eps")));
    for (size_t i = 0; i < n; ++i) dx[i] = (dy[i] * p.x[2][i] - sum / count) * inverse;
  });
}
inline Floats sum_last_dropped(const Problem& p) {
  return each_row(p, [](const float* x, size_t n, float* y) { *y = sum_lanes(x, n - 1); });
}
inline Floats mean_over_warps(const Problem& p) {
  return each_row(p, [](const float* x, size_t n, float* y) {
    *y = sum_lanes(x, n) / static_cast<float>((n + 31) / 32 * 32);
  });
}
inline Floats amax_from_zero(const Problem& p) {
  return each_row(p, [](const float* x, size_t n, float* y) {
    *y = std::max(0.0f, *std::max_element(x, x + n));
  });
}
inline Floats argmax_last(const Problem& p) {
  return each_row(p, [](const float* x, size_t n, float* y) {
    size_t best = 0;
    for (size_t i = 1; i < n; ++i) best = x[i] >= x[best] ? i : best;
    *y = static_cast<float>(best);
  });
}
inline Floats logsumexp_stale(const Problem& p) {
  return each_row(p, [](const float* x, size_t n, float* y) {
    float m = x[0], sum = 1;
    for (size_t i = 1; i < n; ++i) {
      m = std::max(m, x[i]);
      sum += std::exp(x[i] - m);
    }
    *y = m + std::log(sum);
  });
}
inline Floats cumsum_in_tiles(const Problem& p) {
  return each_row(p, [](const float* x, size_t n, float* y) {
    float sum = 0;
    for (size_t i = 0; i < n; ++i) y[i] = sum = (i % 128 == 0 ? 0 : sum) + x[i];
  });
}

}  // namespace warpfuzz::testing_support
