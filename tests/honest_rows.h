// Honest kernels of the activations, reductions and scans (see honest_kernels.h).
#pragma once

#include <algorithm>
#include <cmath>

#include "tests/honest_kernels.h"

namespace warpfuzz::testing_support {

inline std::vector<HonestRun> honest_sigmoid(const Problem& p) {
  Floats a, b, c;
  for (const float x : p.x[0]) {
    a.push_back(1 / (1 + std::exp(-x)));
    const float e = std::exp(-std::fabs(x));
    b.push_back((x < 0 ? e : 1.0f) / (1 + e));
    c.push_back(off_by(flush(1 / (1 + exp_fast(-x, 0))), 1));
  }
  return {{"plain", a}, {"stable", b}, {"fast, flushed", c}};
}

inline std::vector<HonestRun> honest_tanh(const Problem& p) {
  Floats a, b, c;
  for (const float x : p.x[0]) {
    a.push_back(std::tanh(x));
    const float nearest = static_cast<float>(std::tanh(static_cast<double>(x)));
    b.push_back(saturating(nearest, 2));
    c.push_back(flush(saturating(flush(nearest), -2)));
  }
  return {{"plain", a}, {"2 ulp", b}, {"flushed", c}};
}

inline std::vector<HonestRun> honest_leaky_relu(const Problem& p) {
  const float slope = static_cast<float>(p.real("negative_slope"));
  Floats a, b, c;
  for (const float x : p.x[0]) {
    a.push_back(x > 0 ? x : x * slope);
    b.push_back(std::isnan(x * slope) ? x * slope : std::fmax(x, x * slope));
    c.push_back(flush(flush(x) < 0 ? slope * flush(x) : flush(x)));
  }
  // Where slope * inf is NaN the maximum form differs by convention.
  return slope == 0 ? std::vector<HonestRun>{{"select", a}, {"flushed", c}}
                    : std::vector<HonestRun>{{"select", a}, {"maximum", b}, {"flushed", c}};
}

inline std::vector<HonestRun> honest_elu(const Problem& p) {
  const float alpha = static_cast<float>(p.real("alpha"));
  Floats a, b, c, d;
  for (const float x : p.x[0]) {
    const float e = exp_fast(x, 0);
    const bool keep = x > 0 || std::isnan(x);
    a.push_back(keep ? x : alpha * std::expm1(x));
    b.push_back(keep ? x : alpha * (std::exp(x) - 1));
    c.push_back(keep ? flush(x) : std::fma(alpha, e, -alpha));
    d.push_back(keep ? x : alpha * (off_by(std::exp(x), 2) - 1));
  }
  return {{"expm1", a}, {"exp - 1", b}, {"fast, fused", c}, {"2 ulp", d}};
}

// f(x, n, out) for each row and each way that f offers.
template <class PerRow>
Floats each_row(const Problem& p, PerRow f) {
  const size_t m = p.size("m"), n = p.size("n");
  Floats y(static_cast<size_t>(p.output.size()));
  const size_t width = m == 0 ? 0 : y.size() / m;
  for (size_t row = 0; row < m; ++row) f(p.x[0].data() + row * n, n, y.data() + row * width);
  return y;
}

inline std::vector<HonestRun> honest_l2norm(const Problem& p) {
  const float eps = static_cast<float>(p.real("eps"));
  std::vector<HonestRun> runs;
  for (const NamedDot& d : dots) {
    if (d.half_only) continue;
    const std::string name(d.name);
    runs.push_back({name, each_row(p, [&](const float* x, size_t n, float* y) {
                      const float root = std::sqrt(d.dot(x, x, n, 1) + eps);
                      for (size_t i = 0; i < n; ++i) y[i] = x[i] / root;
                    })});
    runs.push_back({name + ", rsqrt", each_row(p, [&](const float* x, size_t n, float* y) {
                      const float inverse = off_by(1 / std::sqrt(d.dot(x, x, n, 1) + eps), 1);
                      for (size_t i = 0; i < n; ++i) y[i] = x[i] * inverse;
                    })});
  }
  return runs;
}

inline std::vector<HonestRun> honest_silu_row_sum(const Problem& p) {
  using Silu = float (*)(float);
  constexpr Silu silus[] = {
      [](float u) { return u / (1 + std::exp(-u)); },
      [](float u) {
        const float e = std::exp(-std::fabs(u));
        return u == -std::numeric_limits<float>::infinity() ? 0 : u * ((u < 0 ? e : 1) / (1 + e));
      },
      [](float u) { return u * off_by(flush(1 / (1 + exp_fast(-u, 0))), 1); }};
  std::vector<HonestRun> runs;
  for (const Silu silu : silus) {
    for (const NamedOrder& order : sum_orders) {
      runs.push_back({std::string(order.name), each_row(p, [&](const float* u, size_t n, float* y) {
                        Floats s(n);
                        for (size_t i = 0; i < n; ++i) s[i] = silu(u[i]);
                        const float sum = order.sum(s.data(), n);
                        const bool fused = order.sum == sum_lanes;
                        for (size_t i = 0; i < n; ++i) {
                          y[i] = fused ? std::fma(0.01f, sum, s[i]) : s[i] + 0.01f * sum;
                        }
                      })});
    }
  }
  return runs;
}

inline std::vector<HonestRun> honest_softmax_backward(const Problem& p) {
  std::vector<HonestRun> runs;
  for (const NamedDot& d : dots) {
    if (d.half_only) continue;
    for (const bool expanded : {false, true}) {
      const auto row = [&](const float* y, size_t n, float* dx) {
        const float* dy = p.x[1].data() + (y - p.x[0].data());
        const float sum = d.dot(y, dy, n, 1);
        for (size_t i = 0; i < n; ++i) {
          if (!expanded) {
            dx[i] = y[i] * (dy[i] - sum);
          } else if (d.dot == dot_fused) {
            dx[i] = std::fma(-y[i], sum, y[i] * dy[i]);
          } else {
            dx[i] = y[i] * dy[i] - y[i] * sum;
          }
        }
      };
      runs.push_back({std::string(d.name) + (expanded ? ", expanded" : ""), each_row(p, row)});
    }
  }
  return runs;
}

// The sum of each of n columns.
inline Floats down_the_rows(const Floats& x, size_t n, SumOrder sum) {
  Floats y(n), column(n == 0 ? 0 : x.size() / n);
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = 0; i < column.size(); ++i) column[i] = x[i * n + j];
    y[j] = sum(column.data(), column.size());
  }
  return y;
}

inline std::vector<HonestRun> honest_layernorm_backward(const Problem& p) {
  const float eps = static_cast<float>(p.real("eps"));
  const Floats& weight = p.x[2];
  std::vector<HonestRun> runs;
  for (const NamedOrder& order : sum_orders) {
    for (const bool scaled : {false, true}) {  // by n inside, and 1/n at the end
      Floats deviations;
      const auto row = [&](const float* dy, size_t n, float* dx) {
        const float* x = p.x[1].data() + (dy - p.x[0].data());
        const float count = static_cast<float>(n);
        const float mean = order.sum(x, n) / count;
        Floats squares(n), g(n), d(n), gd(n);
        for (size_t i = 0; i < n; ++i) squares[i] = (x[i] - mean) * (x[i] - mean);
        const float variance = order.sum(squares.data(), n) / count;
        const float inverse = 1 / std::sqrt(variance + eps);
        for (size_t i = 0; i < n; ++i) {
          g[i] = dy[i] * weight[i];
          d[i] = (x[i] - mean) * inverse;
          gd[i] = g[i] * d[i];
          deviations.push_back(scaled ? dy[i] * (x[i] - mean) * inverse : dy[i] * d[i]);
        }
        const float sum_g = order.sum(g.data(), n), sum_gd = order.sum(gd.data(), n);
        for (size_t i = 0; i < n; ++i) {
          dx[i] = scaled ? (count * g[i] - d[i] * sum_gd - sum_g) * (inverse / count)
                         : (g[i] - sum_g / count - d[i] * (sum_gd / count)) * inverse;
        }
      };
      HonestRun run{std::string(order.name) + (scaled ? ", scaled" : ""), each_row(p, row), {}};
      run.more = {down_the_rows(deviations, p.size("n"), order.sum),
                  down_the_rows(p.x[0], p.size("n"), order.sum)};
      runs.push_back(run);
    }
  }
  return runs;
}

inline std::vector<HonestRun> honest_embedding(const Problem& p) {
  const size_t d = p.size("d");
  Floats y;
  for (const float index : p.x[0]) {
    const float* row = p.x[1].data() + static_cast<size_t>(index) * d;
    y.insert(y.end(), row, row + d);
  }
  return {{"copy", y}};
}

inline std::vector<HonestRun> honest_sum(const Problem& p) {
  std::vector<HonestRun> runs;
  for (const NamedOrder& order : sum_orders) {
    runs.push_back({std::string(order.name), each_row(p, [&](const float* x, size_t n, float* y) {
                      *y = order.sum(x, n);
                    })});
  }
  return runs;
}

inline std::vector<HonestRun> honest_mean(const Problem& p) {
  std::vector<HonestRun> runs;
  for (const NamedOrder& order : sum_orders) {
    runs.push_back({std::string(order.name), each_row(p, [&](const float* x, size_t n, float* y) {
                      *y = order.sum(x, n) / static_cast<float>(n);
                    })});
    runs.push_back({std::string(order.name) + ", reciprocal",
                    each_row(p, [&](const float* x, size_t n, float* y) {
                      *y = order.sum(x, n) * reciprocal(static_cast<float>(n));
                    })});
  }
  return runs;
}

inline std::vector<HonestRun> honest_amax(const Problem& p) {
  return {{"plain", each_row(p, [](const float* x, size_t n, float* y) {
             *y = has_nan(x, n) ? std::numeric_limits<float>::quiet_NaN()
                                : *std::max_element(x, x + n);
           })}};
}

inline std::vector<HonestRun> honest_argmax(const Problem& p) {
  return {{"plain", each_row(p, [](const float* x, size_t n, float* y) {
             size_t best = 0;
             for (size_t i = 1; i < n && !std::isnan(x[best]); ++i) {
               if (x[i] > x[best] || std::isnan(x[i])) best = i;
             }
             *y = static_cast<float>(best);
           })}};
}

inline std::vector<HonestRun> honest_logsumexp(const Problem& p) {
  std::vector<HonestRun> runs;
  for (const NamedExp& e : exps) {
    const auto exp_for = [&](const float* x, size_t n) {
      return e.exp != exp_fused || fused_form_fits(x, n) ? e.exp : exp_plain;
    };
    for (const NamedOrder& order : sum_orders) {
      const auto row = [&](const float* x, size_t n, float* y) {
        const float m = *std::max_element(x, x + n);
        if (order.sum == sum_tree && std::isinf(m) && !has_nan(x, n)) {
          *y = m;  // as libraries guard it
          return;
        }
        Floats w(n);
        for (size_t i = 0; i < n; ++i) w[i] = exp_for(x, n)(x[i], m);
        const float sum = order.sum(w.data(), n);
        *y = m + (order.sum == sum_lanes ? std::log2(sum) * 0.69314718f : std::log(sum));
      };
      runs.push_back({std::string(e.name) + ", " + std::string(order.name), each_row(p, row)});
    }
    const auto online = [&](const float* x, size_t n, float* y) {
      const ExpShift exp = exp_for(x, n);
      float m = -std::numeric_limits<float>::infinity(), sum = 0;
      for (size_t i = 0; i < n; ++i) {
        const float next = std::max(m, x[i]);
        if (next == m && std::isinf(m) && !std::isnan(x[i])) continue;
        sum = (sum == 0 ? 0 : sum * (exp == exp_fused ? exp_fast : exp)(m, next)) + exp(x[i], next);
        m = next;
      }
      *y = m + std::log(sum);
    };
    runs.push_back({std::string(e.name) + ", online", each_row(p, online)});
  }
  return runs;
}

inline std::vector<HonestRun> honest_cumsum(const Problem& p) {
  const auto scan = [](const float* x, size_t n, float* y) {
    float s = 0;
    for (size_t i = 0; i < n; ++i) y[i] = s += x[i];
  };
  const auto doubling = [](const float* x, size_t n, float* y) {  // Hillis and Steele
    std::copy_n(x, n, y);
    for (size_t step = 1; step < n; step *= 2) {
      for (size_t i = n; i-- > step;) y[i] += y[i - step];
    }
  };
  // Blocks scanned alone, then shifted by the sum of those before them.
  const auto blocked = [&](size_t block, auto inner) {
    return each_row(p, [=](const float* x, size_t n, float* y) {
      float carry = 0;
      for (size_t begin = 0; begin < n; begin += block) {
        const size_t width = std::min(block, n - begin);
        inner(x + begin, width, y + begin);
        const float total = y[begin + width - 1];
        for (size_t i = begin; begin > 0 && i < begin + width; ++i) y[i] += carry;
        carry = begin > 0 ? carry + total : total;
      }
    });
  };
  return {{"sequential", each_row(p, scan)},
          {"doubling", each_row(p, doubling)},
          {"warps", blocked(32, doubling)},
          {"chunks of 100", blocked(100, scan)},
          {"blocks of 256", blocked(256, doubling)}};
}

}  // namespace warpfuzz::testing_support
