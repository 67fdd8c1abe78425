// References against their definitions written out in long double, and honest kernels on every
// combination of special values.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/oracle.h"
#include "tests/honest_ops.h"
#include "tests/oracle_fixture.h"

namespace warpfuzz {
namespace {

using namespace testing_support;

constexpr DType f32 = DType::float32;

// --- definitions: y of the row x (and second input z) at position i

struct RowCall {
  const Problem& p;
  const float* x;
  const float* z;  // of the second input
  size_t n;
};
long double number(float v) { return static_cast<long double>(v); }
long double real(const RowCall& c, std::string_view name) {
  return static_cast<long double>(c.p.real(name));
}
long double silu(long double u) { return u / (1 + std::exp(-u)); }

template <class F>
long double total(size_t count, F f) {
  long double sum = 0;
  for (size_t j = 0; j < count; ++j) sum += f(j);
  return sum;
}
long double greatest(const RowCall& c) { return number(*std::max_element(c.x, c.x + c.n)); }

long double greatest_magnitude(const float* x, size_t n) {
  long double largest = 0;
  for (size_t i = 0; i < n; ++i) largest = std::max(largest, std::fabs(number(x[i])));
  return largest;
}

struct Formula {
  std::string_view op;
  long double (*at)(const RowCall& c, size_t i);
  // Of further outputs, at an element of the whole output.
  std::vector<long double (*)(const Problem& p, size_t i)> more = {};
};

// A sum down the rows of the gradient, weighted by the normalised deviation of x, or not.
template <bool weighted>
long double column_gradient(const Problem& p, size_t j) {
  const size_t n = p.size("n");
  const auto row_term = [&](size_t row) -> long double {
    const float* x = &p.x[1][row * n];
    const long double dy = number(p.x[0][row * n + j]), count = static_cast<long double>(n);
    if (!weighted) return dy;
    const long double mean = total(n, [&](size_t i) { return number(x[i]); }) / count;
    const auto square = [&](size_t i) { return (number(x[i]) - mean) * (number(x[i]) - mean); };
    const auto eps = static_cast<long double>(p.real("eps"));
    return dy * (number(x[j]) - mean) / std::sqrt(total(n, square) / count + eps);
  };
  return total(p.size("m"), row_term);
}
const Formula formulas[] = {
    {"sigmoid", [](const RowCall& c, size_t i) { return 1 / (1 + std::exp(-number(c.x[i]))); }},
    {"tanh", [](const RowCall& c, size_t i) { return std::tanh(number(c.x[i])); }},
    {"leaky_relu",
     [](const RowCall& c, size_t i) {
       return number(c.x[i]) * (c.x[i] > 0 ? 1 : real(c, "negative_slope"));
     }},
    {"elu",
     [](const RowCall& c, size_t i) {
       const long double x = number(c.x[i]);
       return x > 0 ? x : real(c, "alpha") * std::expm1(x);
     }},
    {"l2norm",
     [](const RowCall& c, size_t i) {
       const auto square = [&](size_t j) { return number(c.x[j]) * number(c.x[j]); };
       return number(c.x[i]) / std::sqrt(total(c.n, square) + real(c, "eps"));
     }},
    {"silu_row_sum",
     [](const RowCall& c, size_t i) {
       return silu(number(c.x[i])) +
              0.01L * total(c.n, [&](size_t j) { return silu(number(c.x[j])); });
     }},
    {"softmax_backward",
     [](const RowCall& c, size_t i) {
       const auto product = [&](size_t j) { return number(c.x[j]) * number(c.z[j]); };
       return number(c.x[i]) * (number(c.z[i]) - total(c.n, product));
     }},
    {"layernorm_backward",
     [](const RowCall& c, size_t i) {
       const auto x = [&](size_t j) { return number(c.z[j]); };
       const auto g = [&](size_t j) { return number(c.x[j]) * number(c.p.x[2][j]); };
       const long double n = static_cast<long double>(c.n), mean = total(c.n, x) / n;
       const auto square = [&](size_t j) { return (x(j) - mean) * (x(j) - mean); };
       const long double s = std::sqrt(total(c.n, square) / n + real(c, "eps"));
       const auto d = [&](size_t j) { return (x(j) - mean) / s; };
       const auto product = [&](size_t j) { return g(j) * d(j); };
       return (g(i) - total(c.n, g) / n - d(i) * total(c.n, product) / n) / s;
     },
     {column_gradient<true>, column_gradient<false>}},
    {"sum",
     [](const RowCall& c, size_t) { return total(c.n, [&](size_t j) { return number(c.x[j]); }); }},
    {"mean",
     [](const RowCall& c, size_t) {
       return total(c.n, [&](size_t j) { return number(c.x[j]); }) / static_cast<long double>(c.n);
     }},
    {"amax", [](const RowCall& c, size_t) { return greatest(c); }},
    {"argmax",
     [](const RowCall& c, size_t) {
       return static_cast<long double>(std::max_element(c.x, c.x + c.n) - c.x);
     }},
    {"logsumexp",
     [](const RowCall& c, size_t) {
       const long double m = greatest(c);
       return m + std::log(total(c.n, [&](size_t j) { return std::exp(number(c.x[j]) - m); }));
     }},
    {"quantize_int8",
     [](const RowCall& c, size_t i) { return 127 * number(c.x[i]) / greatest_magnitude(c.x, c.n); },
     {[](const Problem& p, size_t i) {
       return greatest_magnitude(&p.x[0][i * p.size("n")], p.size("n")) / 127;
     }}},
    {"cumsum", [](const RowCall& c,
                  size_t i) { return total(i + 1, [&](size_t j) { return number(c.x[j]); }); }},
};

class Formulas : public testing::TestWithParam<Formula> {};
INSTANTIATE_TEST_SUITE_P(Ops, Formulas, testing::ValuesIn(formulas),
                         [](const auto& row) { return std::string(row.param.op); });

TEST_P(Formulas, GiveTheValuesOfTheReference) {
  const Formula& formula = GetParam();
  const std::vector<HonestOp> ops = honest_ops();
  const auto op =
      std::find_if(ops.begin(), ops.end(), [&](const HonestOp& o) { return o.op == formula.op; });
  ASSERT_NE(op, ops.end());
  for (const Family& family : families) {
    for (const std::vector<AttributeValue>& attributes : op->attributes) {
      const Problem p = family_problem({op->op, f32, op->output_for(f32, f32), {4, 37}, attributes},
                                       schema_of(op->op), family, 11);
      const Oracle oracle(p.c, p.inputs);
      for (size_t k = 0; k < p.c.schema->outputs.size(); ++k) {
        const OutputExpectation& y = oracle.expectation(k);
        const size_t width = y.value.size() / 4;
        for (size_t i = 0; i < y.value.size(); ++i) {
          if (y.allowed[i] != class_finite) continue;
          const size_t row = k == 0 ? i / width * 37 : 0;
          const RowCall call{p, &p.x[0][row], p.x.size() > 1 ? &p.x[1][row] : nullptr, 37};
          const long double exact =
              k == 0 ? formula.at(call, i % width) : formula.more.at(k - 1)(p, i);
          if (std::fabs(exact) < 1e-100L && exact != 0) continue;  // beneath any format by far
          const long double error = std::fabs(static_cast<long double>(y.value[i]) - exact);
          ASSERT_LE(error,
                    static_cast<long double>(y.oracle_error[i]) + std::fabs(exact) * 0x1p-60L)
              << op->op << ' ' << family.name << " output " << k << " element " << i;
        }
      }
    }
  }
}

// --- special values

class SpecialValues : public testing::TestWithParam<Formula> {};
INSTANTIATE_TEST_SUITE_P(Ops, SpecialValues, testing::ValuesIn(formulas),
                         [](const auto& row) { return std::string(row.param.op); });

TEST_P(SpecialValues, HonestKernelsAreNeverCalledWrong) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double specials[] = {
      0,    1,     -2,    inf,  -inf,   std::numeric_limits<double>::quiet_NaN(),
      3e38, -3e38, 1e-40, -0.0, -100.0, 2e19};
  const std::vector<HonestOp> ops = honest_ops();
  const auto op = std::find_if(ops.begin(), ops.end(),
                               [&](const HonestOp& o) { return o.op == GetParam().op; });
  Generator random(3);
  const auto schema = schema_of(op->op);
  size_t non_finite = 0;
  for (int round = 0; round < 2000; ++round) {
    const int64_t n = 1 + round % 4;
    const Problem p =
        make_problem({op->op, f32, op->output_for(f32, f32), {2, n}, op->attributes[0]}, schema,
                     [&](size_t, size_t size) {
                       std::vector<double> values(size);
                       for (double& v : values) v = specials[random() % std::size(specials)];
                       return values;
                     });
    const Oracle oracle(p.c, p.inputs);
    for (const HonestRun& run : op->run(p)) {
      for (size_t k = 0; k < schema->outputs.size(); ++k) {
        const Floats& y = run.output(k);
        const Comparison verdict = oracle.compare(k, p.store(y, k));
        ASSERT_TRUE(verdict.offending.empty())
            << run.name << " output " << k << " on " << fmt::format("{}", fmt::join(p.x[0], " "))
            << " gives " << fmt::format("{}", fmt::join(y, " ")) << " expected "
            << fmt::format("{}", fmt::join(oracle.expectation(k).value, " "));
        for (const float v : y) non_finite += !std::isfinite(v);
      }
    }
  }
  if (op->op != "argmax") EXPECT_GT(non_finite, 100u);  // not vacuous
}

}  // namespace
}  // namespace warpfuzz
