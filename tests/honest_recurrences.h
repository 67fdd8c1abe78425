// Honest kernels of the gated delta rule (see honest_kernels.h): step by step in three
// associations, and in chunks, solved by substitution or by an inverse.
#pragma once

#include "tests/honest_kernels.h"

namespace warpfuzz::testing_support {

// One column of the state of one head.
struct DeltaColumn {
  const float *q, *k, *v, *alpha, *beta;  // v: elements `stride` apart
  size_t steps, depth, stride;
};

enum class DeltaStyle { decay_first, read_first, fused };

inline void delta_recurrent(const DeltaColumn& c, DeltaStyle style, SumOrder sum, float* o) {
  Floats s(c.depth, 0), p(c.depth);
  const auto dot = [&](const float* x) {
    for (size_t i = 0; i < c.depth; ++i) p[i] = x[i] * s[i];
    return sum(p.data(), c.depth);
  };
  for (size_t t = 0; t < c.steps; ++t) {
    const float *k = c.k + t * c.depth, a = c.alpha[t], b = c.beta[t], v = c.v[t * c.stride];
    if (style == DeltaStyle::decay_first) {
      for (float& x : s) x *= a;
      const float x = (v - dot(k)) * b;
      for (size_t i = 0; i < c.depth; ++i) s[i] += k[i] * x;
    } else {
      const float read = a * dot(k);
      const float x = style == DeltaStyle::fused ? std::fma(-b, read, b * v) : b * (v - read);
      for (size_t i = 0; i < c.depth; ++i) {
        s[i] = style == DeltaStyle::fused ? std::fma(k[i], x, a * s[i]) : a * s[i] + x * k[i];
      }
    }
    o[t * c.stride] = dot(c.q + t * c.depth);
  }
}

// x = (I + L)^-1 beta (v - decay k S), L_ti = beta_t decay_ti k_t k_i below the diagonal.
inline void delta_chunked(const DeltaColumn& c, size_t chunk, bool invert, SumOrder sum, float* o) {
  Floats s(c.depth, 0), p(c.depth);
  const auto dot = [&](const float* x, const float* y) {
    for (size_t i = 0; i < c.depth; ++i) p[i] = x[i] * y[i];
    return sum(p.data(), c.depth);
  };
  for (size_t begin = 0; begin < c.steps; begin += chunk) {
    const size_t n = std::min(chunk, c.steps - begin);
    const auto key = [&](size_t t) { return c.k + (begin + t) * c.depth; };
    const auto query = [&](size_t t) { return c.q + (begin + t) * c.depth; };
    Floats decay(n), between(n * n, 0), x(n), right(n), read(n);
    for (size_t t = 0; t < n; ++t) {
      decay[t] = (t == 0 ? 1 : decay[t - 1]) * c.alpha[begin + t];
      between[t * n + t] = 1;
      for (size_t i = 0; i < t; ++i) {
        between[t * n + i] = between[(t - 1) * n + i] * c.alpha[begin + t];
      }
      right[t] = c.beta[begin + t] * c.v[(begin + t) * c.stride];
      read[t] = c.beta[begin + t] * decay[t] * dot(key(t), s.data());
    }
    const auto lower = [&](size_t t, size_t i) {
      return c.beta[begin + t] * between[t * n + i] * dot(key(t), key(i));
    };
    if (invert) {
      Floats inverse(n * n, 0);
      for (size_t t = 0; t < n; ++t) {
        inverse[t * n + t] = 1;
        for (size_t i = 0; i < t; ++i) {
          const float l = lower(t, i);
          for (size_t e = 0; e <= i; ++e) inverse[t * n + e] -= l * inverse[i * n + e];
        }
      }
      for (size_t t = 0; t < n; ++t) {
        float u = 0, w = 0;  // from the values, from the state: subtracted last
        for (size_t i = 0; i <= t; ++i) {
          u += inverse[t * n + i] * right[i];
          w += inverse[t * n + i] * read[i];
        }
        x[t] = u - w;
      }
    } else {
      for (size_t t = 0; t < n; ++t) {
        float rest = 0;
        for (size_t i = 0; i < t; ++i) rest += lower(t, i) * x[i];
        x[t] = right[t] - read[t] - rest;
      }
    }
    for (size_t t = 0; t < n; ++t) {
      float inside = 0;
      for (size_t i = 0; i <= t; ++i) inside += between[t * n + i] * dot(query(t), key(i)) * x[i];
      o[(begin + t) * c.stride] = decay[t] * dot(query(t), s.data()) + inside;
    }
    for (size_t d = 0; d < c.depth; ++d) {
      float next = decay[n - 1] * s[d];
      for (size_t i = 0; i < n; ++i) next += between[(n - 1) * n + i] * x[i] * key(i)[d];
      s[d] = next;
    }
  }
}

inline std::vector<HonestRun> honest_gated_delta(const Problem& p) {
  const size_t heads = p.size("h"), t = p.size("t"), dk = p.size("dk"), dv = p.size("dv");
  std::vector<HonestRun> runs;
  const auto add = [&](std::string name, auto column) {
    HonestRun run{std::move(name), Floats(heads * t * dv), {}};
    for (size_t head = 0; head < heads; ++head) {
      for (size_t j = 0; j < dv && t > 0; ++j) {
        const size_t at = head * t * dv + j;
        column(DeltaColumn{&p.x[0].data()[head * t * dk], &p.x[1].data()[head * t * dk],
                           &p.x[2].data()[at], &p.x[3].data()[head * t], &p.x[4].data()[head * t],
                           t, dk, dv},
               &run.y.data()[at]);
      }
    }
    runs.push_back(std::move(run));
  };
  for (const NamedOrder& order : sum_orders) {
    const std::string name(order.name);
    for (const DeltaStyle style :
         {DeltaStyle::decay_first, DeltaStyle::read_first, DeltaStyle::fused}) {
      add(name + ", recurrent " + std::to_string(static_cast<int>(style)),
          [&](const DeltaColumn& c, float* o) { delta_recurrent(c, style, order.sum, o); });
    }
    for (const size_t chunk : {size_t{4}, size_t{16}, size_t{64}}) {
      for (const bool invert : {false, true}) {
        add(name + ", chunks of " + std::to_string(chunk) + (invert ? ", inverse" : ""),
            [&](const DeltaColumn& c, float* o) { delta_chunked(c, chunk, invert, order.sum, o); });
      }
    }
  }
  return runs;
}

}  // namespace warpfuzz::testing_support
