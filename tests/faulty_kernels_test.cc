// Seeded bugs on the inputs designed to show them (reference/NUMERICS.md, "Separation"): the oracle
// must reject each, not marginally.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reference/oracle.h"
#include "tests/faulty_rows.h"
#include "tests/honest_kernels.h"
#include "tests/oracle_fixture.h"

namespace warpfuzz {
namespace {

using namespace testing_support;

using Fill = std::vector<double> (*)(size_t input, size_t size, Generator& random);
using Faulty = Floats (*)(const Problem&);

struct Bug {
  const char* name;
  ProblemSpec spec;
  Fill fill;
  Faulty kernel;
};

constexpr DType f32 = DType::float32, f16 = DType::float16, bf16 = DType::bfloat16;

// --- values

template <int scale_percent, int shift>
std::vector<double> gaussian(size_t, size_t size, Generator& random) {
  std::vector<double> x(size);
  for (double& v : x) v = shift + scale_percent / 100.0 * normal(random);
  return x;
}
template <size_t n>
std::vector<double> maximum_at_tail(size_t, size_t size, Generator& random) {
  std::vector<double> x(size);
  for (size_t i = 0; i < size; ++i) x[i] = i % n == n - 1 ? 6 : normal(random);
  return x;
}
// Norms: the first input small, weight and bias of order one.
template <int per_million, int mean>
std::vector<double> small_spread(size_t input, size_t size, Generator& random) {
  std::vector<double> x(size);
  for (double& v : x) v = input == 0 ? mean + per_million * 1e-6 * normal(random) : normal(random);
  return x;
}
// 7-bit times 6-bit integers with sums that are small integers, as far as chance allows.
std::vector<double> integers(size_t input, size_t size, Generator& random) {
  std::vector<double> x(size);
  for (double& v : x) v = std::floor((input == 0 ? 127 : 63) * (2 * uniform(random) - 1));
  return x;
}
// Odd 12-bit integers times +-1.
std::vector<double> twelve_bits(size_t input, size_t size, Generator& random) {
  std::vector<double> x(size);
  for (double& v : x) {
    v = input == 0 ? 2 * std::floor(2048 * uniform(random)) + 1 : uniform(random) < 0.5 ? -1 : 1;
  }
  return x;
}
// Attention: scores that rise along the keys (queries all ones).
std::vector<double> rising_scores(size_t input, size_t size, Generator& random) {
  std::vector<double> x(size);
  constexpr size_t d = 16;
  for (size_t i = 0; i < size; ++i) {
    const double key = static_cast<double>(i / d);
    x[i] = input == 0 ? 1 : input == 1 ? key / 32 : normal(random);
  }
  return x;
}
std::vector<double> negative_scores(size_t input, size_t size, Generator& random) {
  std::vector<double> x(size);
  for (double& v : x) v = input == 0 ? 1 : input == 1 ? -1 + 0.1 * normal(random) : normal(random);
  return x;
}
// q = 0: every weight is exactly 1; V integers.
std::vector<double> uniform_weights(size_t input, size_t size, Generator& random) {
  std::vector<double> x(size);
  for (double& v : x) v = input == 0 ? 0 : std::floor(255 * (2 * uniform(random) - 1));
  return x;
}

// --- kernels

float to_half(float v) {
  return static_cast<float>(decode_element(f16, encode_element(f16, static_cast<double>(v))));
}
float to_bfloat(float v) {
  return static_cast<float>(decode_element(bf16, encode_element(bf16, static_cast<double>(v))));
}
float to_tf32(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, 4);
  bits = (bits + 0xfff + ((bits >> 13) & 1)) & ~uint32_t{0x1fff};
  std::memcpy(&v, &bits, 4);
  return v;
}

template <float (*f)(float)>
Floats each(const Problem& p) {
  Floats y;
  for (const float x : p.x[0]) y.push_back(f(x));
  return y;
}
float gelu_without_half(float x) { return x * (1 + std::erf(x * 0.70710678f)); }
float gelu_tanh(float x) {
  return 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
}
float silu_doubled(float x) { return x / (1 + std::exp(-2 * x)); }

struct SoftmaxStyle {
  bool leak = false;                // padding of the last block of 128 counts as logit 0
  bool drop = false;                // the last element is missing from the sum
  bool shifted = true;              // the maximum is subtracted
  float (*round)(float) = nullptr;  // of the running sum
};
Floats softmax(const Problem& p, const SoftmaxStyle& style) {
  const size_t n = static_cast<size_t>(p.output.shape.back());
  Floats y(p.x[0].size());
  for (size_t row = 0; row < y.size(); row += n) {
    const float* x = &p.x[0][row];
    const float m = style.shifted ? *std::max_element(x, x + n) : 0;
    float sum = 0;
    for (size_t i = 0; i + (style.drop ? 1 : 0) < n; ++i) {
      sum += std::exp(x[i] - m);
      if (style.round != nullptr) sum = style.round(sum);
    }
    if (style.leak) sum += static_cast<float>((128 - n % 128) % 128) * std::exp(-m);
    for (size_t i = 0; i < n; ++i) y[row + i] = std::exp(x[i] - m) / sum;
  }
  return y;
}
Floats softmax_leak(const Problem& p) { return softmax(p, {.leak = true}); }
Floats softmax_drop(const Problem& p) { return softmax(p, {.drop = true}); }
Floats softmax_unshifted(const Problem& p) { return softmax(p, {.shifted = false}); }
Floats softmax_half_sum(const Problem& p) { return softmax(p, {.round = to_half}); }

struct NormStyle {
  bool centred = true;
  bool eps_outside = false;
  bool unbiased = false;
  bool one_pass = false;
  bool root = true;
  bool leak = false;  // padding to a multiple of 128 counts as value 0 in the variance
};
Floats norm(const Problem& p, const NormStyle& style) {
  const size_t n = static_cast<size_t>(p.output.shape.back());
  const float eps = static_cast<float>(p.real("eps")), count = static_cast<float>(n);
  Floats y(p.x[0].size());
  for (size_t row = 0; row < y.size(); row += n) {
    const float* x = &p.x[0][row];
    const float mean = style.centred ? sum_sequential(x, n) / count : 0;
    float squares = 0, raw = 0;
    for (size_t i = 0; i < n; ++i) {
      squares += (x[i] - mean) * (x[i] - mean);
      raw += x[i] * x[i];
    }
    if (style.leak) squares += static_cast<float>((128 - n % 128) % 128) * mean * mean;
    float v = squares / (style.unbiased ? count - 1 : count);
    if (style.one_pass) v = std::max(raw / count - mean * mean, 0.0f);
    const float root = std::sqrt(style.eps_outside ? v : v + eps) + (style.eps_outside ? eps : 0);
    for (size_t i = 0; i < n; ++i) {
      y[row + i] = (x[i] - mean) / (style.root ? root : v + eps) * p.x[1][i] +
                   (p.x.size() > 2 ? p.x[2][i] : 0);
    }
  }
  return y;
}
Floats rms_eps_outside(const Problem& p) {
  return norm(p, {.centred = false, .eps_outside = true});
}
Floats rms_without_root(const Problem& p) { return norm(p, {.centred = false, .root = false}); }
Floats layer_eps_outside(const Problem& p) { return norm(p, {.eps_outside = true}); }
Floats layer_unbiased(const Problem& p) { return norm(p, {.unbiased = true}); }
Floats layer_one_pass(const Problem& p) { return norm(p, {.one_pass = true}); }
Floats layer_leak(const Problem& p) { return norm(p, {.leak = true}); }

template <class Step>
Floats matmul(const Problem& p, float (*operand)(float), size_t dropped, Step step) {
  const size_t m = p.size("m"), n = p.size("n"), k = p.size("k");
  Floats c(m * n);
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; ++j) {
      float s = 0;
      for (size_t t = 0; t + dropped < k; ++t) {
        s = step(s, operand(p.x[0][i * k + t]) * operand(p.x[1][t * n + j]));
      }
      c[i * n + j] = s;
    }
  }
  return c;
}
float same(float v) { return v; }
float add(float s, float v) { return s + v; }
Floats matmul_drop(const Problem& p) { return matmul(p, same, 1, add); }
Floats matmul_overwrite(const Problem& p) {
  return matmul(p, same, 0, [](float, float v) { return v; });
}
Floats matmul_half_sum(const Problem& p) {
  return matmul(p, same, 0, [](float s, float v) { return to_half(s + v); });
}
Floats matmul_bfloat_sum(const Problem& p) {
  return matmul(p, same, 0, [](float s, float v) { return to_bfloat(s + v); });
}
Floats matmul_tf32(const Problem& p) { return matmul(p, to_tf32, 0, add); }
Floats matmul_bfloat(const Problem& p) { return matmul(p, to_bfloat, 0, add); }

struct AttentionFault {
  float scale_power = 0.5f;  // scale = d^-power
  bool rescale = true;
  size_t leak = 0;                  // padded keys of score 0, values 0
  size_t dropped = 0;               // last keys
  float (*round)(float) = nullptr;  // of the accumulator
};
Floats attention(const Problem& p, const AttentionFault& fault) {
  const size_t h = p.size("h"), m = p.size("m"), n = p.size("n"), d = p.size("d");
  const float scale = std::pow(static_cast<float>(d), -fault.scale_power);
  Floats out(h * m * d);
  for (size_t row = 0; row < h * m; ++row) {
    const float* q = &p.x[0][row * d];
    const float* keys = p.x[1].data() + row / m * n * d;
    const float* values = p.x[2].data() + row / m * n * d;
    float highest = -std::numeric_limits<float>::infinity(), sum = 0;
    Floats o(d, 0.0f);
    for (size_t j = 0; j + fault.dropped < n + fault.leak; ++j) {
      const bool padded = j >= n;
      const float s = padded ? 0 : dot_fused(q, keys + j * d, d, 1) * scale;
      const float next = std::max(highest, s);
      const float factor = j == 0 ? 0 : std::exp(highest - next);
      const float w = std::exp(s - next);
      sum = sum * factor + w;
      for (size_t t = 0; t < d; ++t) {
        o[t] =
            (fault.rescale || j == 0 ? o[t] * factor : o[t]) + (padded ? 0 : w * values[j * d + t]);
        if (fault.round != nullptr) o[t] = fault.round(o[t]);
      }
      highest = next;
    }
    for (size_t t = 0; t < d; ++t) out[row * d + t] = o[t] / sum;
  }
  return out;
}
Floats attention_unscaled(const Problem& p) { return attention(p, {.scale_power = 0}); }
Floats attention_over_d(const Problem& p) { return attention(p, {.scale_power = 1}); }
Floats attention_stale(const Problem& p) { return attention(p, {.rescale = false}); }
Floats attention_leak(const Problem& p) { return attention(p, {.leak = 28}); }
Floats attention_drop(const Problem& p) { return attention(p, {.dropped = 1}); }
Floats attention_half_sum(const Problem& p) { return attention(p, {.round = to_half}); }

std::vector<Bug> bugs() {
  std::vector<Bug> all;
  const std::vector<AttributeValue> plain_gelu = {{.integer = 0}}, eps = {{.real = 1e-5}};
  const std::vector<AttributeValue> bidirectional = {{.integer = 0}};
  for (const DType t : {f32, f16, bf16}) {
    const auto spec = [&](std::string_view op, std::vector<int64_t> axes,
                          std::vector<AttributeValue> attributes = {},
                          ValueLaw law = ValueLaw::normal) {
      return ProblemSpec{op, t, t, std::move(axes), std::move(attributes), law};
    };
    all.insert(
        all.end(),
        {{"gelu without half", spec("gelu", {2, 256}, plain_gelu), gaussian<100, 0>,
          each<gelu_without_half>},
         {"gelu tanh for erf", spec("gelu", {2, 256}, plain_gelu), gaussian<100, 0>,
          each<gelu_tanh>},
         {"silu doubled", spec("silu", {2, 256}), gaussian<100, 0>, each<silu_doubled>},
         {"softmax tail leak", spec("softmax", {2, 1000}), gaussian<100, -20>, softmax_leak},
         {"softmax last dropped", spec("softmax", {2, 1000}), maximum_at_tail<1000>, softmax_drop},
         {"softmax not shifted", spec("softmax", {2, 300}), gaussian<10000, 0>, softmax_unshifted},
         {"softmax half sum", spec("softmax", {2, 4000}), gaussian<100, 0>, softmax_half_sum},
         {"rmsnorm eps outside", spec("rmsnorm", {2, 256}, eps), small_spread<1000, 0>,
          rms_eps_outside},
         {"rmsnorm without root", spec("rmsnorm", {2, 256}, eps), small_spread<1000, 0>,
          rms_without_root},
         {"layernorm eps outside", spec("layernorm", {2, 256}, eps), small_spread<3000, 0>,
          layer_eps_outside},
         {"layernorm unbiased", spec("layernorm", {4, 8}, eps), small_spread<1000000, 0>,
          layer_unbiased},
         {"layernorm tail leak", spec("layernorm", {2, 200}, eps), small_spread<1000000, 3>,
          layer_leak},
         {"matmul overwrites", spec("matmul", {3, 3, 129}), gaussian<100, 0>, matmul_overwrite},
         {"matmul last dropped", spec("matmul", {4, 4, 1025}), gaussian<100, 0>, matmul_drop},
         {"matmul half sum", spec("matmul", {4, 4, 1024}, {}, ValueLaw::lattice), integers,
          matmul_half_sum},
         {"matmul bfloat sum", spec("matmul", {4, 4, 1024}, {}, ValueLaw::lattice), integers,
          matmul_bfloat_sum},
         {"attention unscaled", spec("attention", {1, 4, 64, 16}, bidirectional), gaussian<100, 0>,
          attention_unscaled},
         {"attention scaled by 1/d", spec("attention", {1, 4, 64, 16}, bidirectional),
          gaussian<100, 0>, attention_over_d},
         {"attention not rescaled", spec("attention", {1, 4, 100, 16}, bidirectional),
          rising_scores, attention_stale},
         {"attention tail leak", spec("attention", {1, 4, 100, 16}, bidirectional), negative_scores,
          attention_leak},
         {"attention last dropped", spec("attention", {1, 4, 100, 16}, bidirectional),
          rising_scores, attention_drop},
         {"attention half sum",
          spec("attention", {1, 4, 128, 16}, bidirectional, ValueLaw::lattice), uniform_weights,
          attention_half_sum},
         {"attention uniform, last dropped",
          spec("attention", {1, 4, 128, 16}, bidirectional, ValueLaw::lattice), uniform_weights,
          attention_drop},
         {"sigmoid from tanh", spec("sigmoid", {2, 256}), gaussian<100, -20>,
          activated<sigmoid_from_tanh>},
         {"tanh by a fraction", spec("tanh", {2, 256}), gaussian<100, 0>, activated<tanh_pade>},
         {"leaky_relu of slope 0.1", spec("leaky_relu", {2, 256}, {{.real = 0.01}}),
          gaussian<100, 0>, activated<leaky_relu_tenth>},
         {"elu of alpha 1", spec("elu", {2, 256}, {{.real = 1.5}}), gaussian<100, 0>,
          activated<elu_of_alpha_1>},
         {"l2norm without root", spec("l2norm", {2, 256}, eps), gaussian<100, 0>,
          l2norm_wrong<false>},
         {"l2norm eps outside", spec("l2norm", {2, 64}, {{.real = 1e-3}}), small_spread<1000, 0>,
          l2norm_wrong<true>},
         {"silu_row_sum of the mean", spec("silu_row_sum", {2, 256}), gaussian<100, 0>,
          silu_row_mean},
         {"softmax_backward plain sum", spec("softmax_backward", {2, 256}), gaussian<100, 0>,
          softmax_backward_plain_sum},
         {"layernorm_backward no projection", spec("layernorm_backward", {2, 256}, eps),
          gaussian<100, 0>, layernorm_backward_no_projection},
         {"sum last dropped", spec("sum", {8, 33}), gaussian<100, 0>, sum_last_dropped},
         {"mean over warps", spec("mean", {8, 33}), gaussian<100, 0>, mean_over_warps},
         {"amax from zero", spec("amax", {2, 256}), gaussian<100, -20>, amax_from_zero},
         {"logsumexp stale", spec("logsumexp", {2, 256}), maximum_at_tail<256>, logsumexp_stale},
         {"cumsum in tiles", spec("cumsum", {2, 300}), gaussian<100, 0>, cumsum_in_tiles},
         {"argmax last",
          {"argmax", t, DType::int64, {4, 256}, {}, ValueLaw::lattice},
          integers,
          argmax_last}});
    if (t != f32) continue;
    all.insert(
        all.end(),
        {{"layernorm one pass", spec("layernorm", {2, 256}, eps), small_spread<1000000, 1000>,
          layer_one_pass},
         {"matmul tf32", spec("matmul", {4, 4, 64}), gaussian<1, 0>, matmul_tf32},
         {"matmul tf32, lattice", spec("matmul", {4, 4, 1000}, {}, ValueLaw::lattice), twelve_bits,
          matmul_tf32},
         {"matmul bfloat operands", spec("matmul", {4, 4, 64}), gaussian<100, 0>, matmul_bfloat}});
  }
  return all;
}

class FaultyKernels : public testing::TestWithParam<Bug> {};
INSTANTIATE_TEST_SUITE_P(Bugs, FaultyKernels, testing::ValuesIn(bugs()), [](const auto& row) {
  std::string label = fmt::format("{}_{}", row.param.name, name(row.param.spec.input));
  for (char& c : label) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return label;
});

TEST_P(FaultyKernels, AreRejectedOnTheDesignedInput) {
  const Bug& bug = GetParam();
  Generator random(7);
  const Problem p = make_problem(bug.spec, schema_of(bug.spec.op), [&](size_t input, size_t size) {
    return bug.fill(input, size, random);
  });
  const Oracle oracle(p.c, p.inputs);
  const Comparison verdict = oracle.compare(0, p.store(bug.kernel(p)));
  const auto decided =
      std::count_if(verdict.offences.begin(), verdict.offences.end(),
                    [](const Offence& o) { return o.strength != OffenceStrength::marginal; });
  EXPECT_GT(decided, 0) << "worst ratio " << verdict.worst_ratio << ", undecided "
                        << verdict.undecided << ", marginal " << verdict.offences.size();
  RecordProperty("worst_ratio", fmt::format("{:.3g}", verdict.worst_ratio));
}

}  // namespace
}  // namespace warpfuzz
