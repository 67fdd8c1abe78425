// Honest kernels simulated in float, one per style that GPU code uses: orders of summation, fused
// multiply-add, hardware exponentials, online softmax, Welford, split-K, tensor cores that
// truncate. None of them may ever be called wrong.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include "tests/oracle_fixture.h"

namespace warpfuzz::testing_support {

using Floats = std::vector<float>;

// --- sums

using SumOrder = float (*)(const float*, size_t);
inline float sum_sequential(const float* p, size_t n) {
  float s = 0;
  for (size_t i = 0; i < n; ++i) s += p[i];
  return s;
}
inline float sum_reversed(const float* p, size_t n) {
  float s = 0;
  for (size_t i = n; i-- > 0;) s += p[i];
  return s;
}
inline float sum_tree(const float* p, size_t n) {
  if (n <= 1) return n == 0 ? 0 : p[0];
  return sum_tree(p, n / 2) + sum_tree(p + n / 2, n - n / 2);
}
inline float sum_lanes(const float* p, size_t n) {
  float lane[32] = {};
  for (size_t i = 0; i < n; ++i) lane[i % 32] += p[i];
  for (size_t width = 16; width > 0; width /= 2) {
    for (size_t i = 0; i < width; ++i) lane[i] += lane[i + width];
  }
  return lane[0];
}
inline float sum_split(const float* p, size_t n) {
  float s = 0;
  for (size_t k = 0; k < 4; ++k) {
    const size_t begin = n * k / 4;
    s += sum_sequential(p + begin, n * (k + 1) / 4 - begin);
  }
  return s;
}
struct NamedOrder {
  std::string_view name;
  SumOrder sum;
};
inline constexpr NamedOrder sum_orders[] = {{"sequential", sum_sequential},
                                            {"reversed", sum_reversed},
                                            {"tree", sum_tree},
                                            {"32 lanes", sum_lanes},
                                            {"split", sum_split}};

// --- dot products

inline float dot_in_order(const float* a, const float* b, size_t n, size_t stride, SumOrder sum) {
  Floats p(n);
  for (size_t i = 0; i < n; ++i) p[i] = a[i] * b[i * stride];
  return sum(p.data(), n);
}
inline float dot_fused(const float* a, const float* b, size_t n, size_t stride) {
  float s = 0;
  for (size_t i = 0; i < n; ++i) s = std::fma(a[i], b[i * stride], s);
  return s;
}
inline float toward_zero(double value) {
  if (std::fabs(value) >= 0x1p128) return static_cast<float>(value);  // infinite
  const float nearest = static_cast<float>(value);
  return std::fabs(static_cast<double>(nearest)) > std::fabs(value) ? std::nextafter(nearest, 0.0f)
                                                                    : nearest;
}
// 16 exact products and the accumulator added exactly, then truncated: a model of tensor cores.
inline float dot_tensor_core(const float* a, const float* b, size_t n, size_t stride) {
  float s = 0;
  for (size_t i = 0; i < n; i += 16) {
    double t = static_cast<double>(s);
    for (size_t k = i; k < std::min(i + 16, n); ++k) {
      t += static_cast<double>(a[k]) * static_cast<double>(b[k * stride]);
    }
    s = toward_zero(t);
  }
  return s;
}
using Dot = float (*)(const float*, const float*, size_t, size_t);
struct NamedDot {
  std::string_view name;
  Dot dot;
  bool half_only;
};
template <SumOrder order>
float ordered_dot(const float* a, const float* b, size_t n, size_t stride) {
  return dot_in_order(a, b, n, stride, order);
}
inline constexpr NamedDot dots[] = {
    {"sequential", ordered_dot<sum_sequential>, false},
    {"reversed", ordered_dot<sum_reversed>, false},
    {"tree", ordered_dot<sum_tree>, false},
    {"32 lanes", ordered_dot<sum_lanes>, false},
    {"split", ordered_dot<sum_split>, false},
    {"fused", dot_fused, false},
    {"tensor core", dot_tensor_core, true},
};

// --- exponentials

inline float off_by(float value, int ulps) {
  if (std::fabs(value) < 0x1p-120f || !std::isfinite(value)) return value;
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  bits = static_cast<uint32_t>(static_cast<int32_t>(bits) + ulps);
  std::memcpy(&value, &bits, 4);
  return std::isfinite(value) ? value : std::numeric_limits<float>::infinity();
}
// rcp.approx: within one ulp, exact on powers of two.
inline float reciprocal(float value) {
  int exponent;
  const float exact = 1 / value;
  return std::frexp(value, &exponent) == 0.5f ? exact : off_by(exact, 1);
}
inline float flush(float v) { return std::fabs(v) < 0x1p-126f ? 0.0f * v : v; }
// The fused form is meant for scores of moderate size.
inline bool fused_form_fits(const float* x, size_t n) {
  return std::all_of(x, x + n, [](float v) { return !(std::fabs(v) > 65536) || std::isinf(v); });
}
inline float exp_plain(float x, float m) { return std::exp(x - m); }
// ex2.approx after one fused multiply-add, two ulp off, subnormals flushed.
inline float exp_fused(float x, float m) {
  constexpr float c = 1.4426950408889634f;
  const float t = std::fma(x, c, -(m * c));
  if (t == 0) return 1;
  uint32_t bits;
  std::memcpy(&bits, &t, 4);
  return flush(off_by(std::exp2(t), (bits & 1) != 0 ? 2 : -2));
}
inline float exp_fast(float x, float m) {  // __expf
  const float d = x - m;
  if (d == 0) return 1;
  return flush(off_by(std::exp2(d * 1.4426950408889634f), 1));
}
// Factors of an online softmax are taken from the difference: exactly 1 where nothing changed.
using ExpShift = float (*)(float, float);
struct NamedExp {
  std::string_view name;
  ExpShift exp;
};
inline constexpr NamedExp exps[] = {
    {"expf", exp_plain}, {"ex2 fused", exp_fused}, {"__expf", exp_fast}};

// --- kernels: each gives the variant's name and its output

struct HonestRun {
  std::string name;
  Floats y;
  std::vector<Floats> more = {};  // outputs beyond the first

  const Floats& output(size_t k) const { return k == 0 ? y : more[k - 1]; }
};
using HonestKernel = std::vector<HonestRun> (*)(const Problem&);

inline std::vector<HonestRun> honest_relu(const Problem& p) {
  Floats y;
  for (const float x : p.x[0]) y.push_back(x > 0 || std::isnan(x) ? x : 0.0f);
  return {{"plain", y}};
}

inline std::vector<HonestRun> honest_silu(const Problem& p) {
  Floats a, b, c, d;
  for (const float x : p.x[0]) {
    a.push_back(x / (1 + std::exp(-x)));
    b.push_back(x * (1 / (1 + std::exp(-x))));
    const float reciprocal = off_by(flush(1 / (1 + exp_fast(-x, 0))), 1);
    c.push_back(flush(flush(x) * reciprocal));
    d.push_back(x / (1 + off_by(std::exp(-x), -2)));
  }
  return {{"divide", a}, {"reciprocal", b}, {"fast, flushed", c}, {"expf 2 ulp", d}};
}

// A function that saturates at +-1, `ulps` off elsewhere.
inline float saturating(float v, int ulps) {
  return std::fabs(v) == 1 ? v : std::clamp(off_by(v, ulps), -1.0f, 1.0f);
}

inline std::vector<HonestRun> honest_gelu(const Problem& p) {
  const bool tanh = p.integer("approximate") == 1;
  Floats a, b, c;
  for (const float x : p.x[0]) {
    if (tanh) {
      const float k = 0.7978845608f;
      const float inner = k * (x + 0.044715f * x * x * x);
      a.push_back(0.5f * x * (1 + std::tanh(inner)));
      b.push_back(x * (0.5f * (1 + saturating(std::tanh(k * x * (1 + 0.044715f * x * x)), 2))));
      const float u = std::fma(0.044715f * x * x, x, x) * k;
      c.push_back(flush(0.5f * flush(x) * (1 + saturating(std::tanh(u), -1))));
    } else {
      const float e = std::erf(x * 0.70710678118f);
      a.push_back(0.5f * x * (1 + e));
      b.push_back(x * (0.5f * (1 + saturating(e, 2))));
      c.push_back(flush(0.5f * flush(x) * (1 + saturating(e, -2))));
    }
  }
  return {{"plain", a}, {"2 ulp", b}, {"flushed", c}};
}

inline bool has_nan(const float* p, size_t n) {
  return std::any_of(p, p + n, [](float v) { return std::isnan(v); });
}

inline void online_softmax(const float* x, size_t n, ExpShift exp, size_t block, float* y) {
  float m = -std::numeric_limits<float>::infinity(), sum = 0;
  for (size_t begin = 0; begin < n; begin += block) {
    const size_t end = std::min(begin + block, n);
    float highest = m;
    for (size_t i = begin; i < end; ++i) highest = std::max(highest, x[i]);
    const bool nothing = std::isinf(highest) && highest < 0;
    if (nothing && !has_nan(x + begin, end - begin)) continue;  // no weight yet
    float part = 0;
    for (size_t i = begin; i < end; ++i) part += exp(x[i], highest);
    sum = (sum == 0 ? 0 : sum * (exp == exp_fused ? exp_fast : exp)(m, highest)) + part;
    m = highest;
  }
  for (size_t i = 0; i < n; ++i) y[i] = exp(x[i], m) / sum;
}

inline std::vector<HonestRun> honest_softmax(const Problem& p) {
  const size_t n = static_cast<size_t>(p.output.shape.back());
  const Floats& x = p.x[0];
  std::vector<HonestRun> runs;
  const auto exp_of = [&](const NamedExp& e, size_t row) {
    const bool fits = e.exp != exp_fused || fused_form_fits(&x[row], n);
    return fits ? e.exp : exp_plain;
  };
  for (const NamedExp& e : exps) {
    for (const NamedOrder& order : sum_orders) {
      Floats y(x.size());
      for (size_t row = 0; row < x.size(); row += n) {
        const float m = *std::max_element(&x[row], &x[row] + n);
        Floats w(n);
        const ExpShift exp = exp_of(e, row);
        for (size_t i = 0; i < n; ++i) w[i] = exp(x[row + i], m);
        const float sum = order.sum(w.data(), n);
        const float inverse = reciprocal(sum);
        const bool divide = order.sum == sum_sequential;
        for (size_t i = 0; i < n; ++i) y[row + i] = divide ? w[i] / sum : w[i] * inverse;
      }
      runs.push_back({std::string(e.name) + ", " + std::string(order.name), y});
    }
    for (const size_t block : {1u, 32u}) {
      Floats y(x.size());
      for (size_t row = 0; row < x.size(); row += n) {
        online_softmax(&x[row], n, exp_of(e, row), block, &y[row]);
      }
      runs.push_back({std::string(e.name) + ", online " + std::to_string(block), y});
    }
  }
  return runs;
}

inline std::vector<HonestRun> honest_rmsnorm(const Problem& p) {
  const size_t n = static_cast<size_t>(p.output.shape.back());
  const Floats &x = p.x[0], &w = p.x[1];
  const float eps = static_cast<float>(p.real("eps"));
  std::vector<HonestRun> runs;
  for (const NamedDot& d : dots) {
    if (d.half_only) continue;
    Floats y(x.size()), z(x.size());
    for (size_t row = 0; row < x.size(); row += n) {
      const float ms = d.dot(&x[row], &x[row], n, 1) / static_cast<float>(n);
      const float inverse = 1 / std::sqrt(ms + eps);
      const float approximate = off_by(inverse, -1);
      for (size_t i = 0; i < n; ++i) {
        y[row + i] = x[row + i] * inverse * w[i];
        z[row + i] = x[row + i] * (approximate * w[i]);
      }
    }
    runs.push_back({std::string(d.name), y});
    runs.push_back({std::string(d.name) + ", weight first", z});
  }
  return runs;
}

inline std::vector<HonestRun> honest_layernorm(const Problem& p) {
  const size_t n = static_cast<size_t>(p.output.shape.back());
  const Floats &x = p.x[0], &w = p.x[1], &b = p.x[2];
  const float eps = static_cast<float>(p.real("eps"));
  std::vector<HonestRun> runs;
  const auto finish = [&](size_t row, float mean, float variance, bool fused, Floats& y) {
    const float inverse =
        fused ? off_by(1 / std::sqrt(variance + eps), 1) : 1 / std::sqrt(variance + eps);
    for (size_t i = 0; i < n; ++i) {
      const float scaled = (x[row + i] - mean) * inverse;
      y[row + i] = fused ? std::fma(scaled, w[i], b[i]) : scaled * w[i] + b[i];
    }
  };
  for (const NamedOrder& order : sum_orders) {
    Floats y(x.size());
    for (size_t row = 0; row < x.size(); row += n) {
      const float mean = order.sum(&x[row], n) / static_cast<float>(n);
      Floats squares(n);
      for (size_t i = 0; i < n; ++i) {
        const float d = x[row + i] - mean;
        squares[i] = d * d;
      }
      const float variance = order.sum(squares.data(), n) / static_cast<float>(n);
      finish(row, mean, variance, order.sum == sum_lanes, y);
    }
    runs.push_back({std::string(order.name), y});
  }
  Floats y(x.size());
  for (size_t row = 0; row < x.size(); row += n) {
    float mean = 0, squares = 0;
    for (size_t i = 0; i < n; ++i) {
      const float delta = x[row + i] - mean;
      mean += delta / static_cast<float>(i + 1);
      squares += delta * (x[row + i] - mean);
    }
    finish(row, mean, squares / static_cast<float>(n), true, y);
  }
  runs.push_back({"Welford", y});
  return runs;
}

inline bool is_half(const Problem& p) { return p.inputs[0].dtype != DType::float32; }

inline std::vector<HonestRun> honest_matmul(const Problem& p) {
  const size_t m = p.size("m"), n = p.size("n"), k = p.size("k");
  std::vector<HonestRun> runs;
  for (const NamedDot& d : dots) {
    if (d.half_only && !is_half(p)) continue;
    Floats c(m * n);
    for (size_t i = 0; i < m; ++i) {
      for (size_t j = 0; j < n; ++j) {
        c[i * n + j] = d.dot(p.x[0].data() + i * k, p.x[1].data() + j, k, n);
      }
    }
    runs.push_back({std::string(d.name), c});
  }
  return runs;
}

}  // namespace warpfuzz::testing_support
