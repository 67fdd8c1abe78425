// The elementary functions under the oracle: vector math within its stated error, double-double to
// its stated bits, both against multiprecision.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "reference/double_double.h"
#include "reference/multiprecision.h"
#include "reference/vector_math.h"
#include "tests/oracle_fixture.h"

namespace warpfuzz {
namespace {

using namespace testing_support;

double relative_error(const Multiprecision& computed, const Multiprecision& exact) {
  return std::fabs(static_cast<double>((computed - exact) / exact));
}
double relative_error(double computed, const Multiprecision& exact) {
  if (static_cast<double>(exact) == 0) return std::fabs(computed);
  return relative_error(Multiprecision(computed), exact);
}

TEST(Functions, VectorsKeepTheirErrorBound) {
  using Exact = NumberFunctions<Multiprecision>;
  struct Row {
    void (*function)(const double*, double*, size_t);
    Multiprecision (*exact)(const Multiprecision&);
    double low, high;
  };
  const Row rows[] = {{vector_exp, Exact::exp, -700, 700}, {vector_exp, Exact::exp, -1, 1},
                      {vector_erf, Exact::erf, -6, 6},     {vector_erf, Exact::erf, -1e-3, 1e-3},
                      {vector_tanh, Exact::tanh, -20, 20}, {vector_tanh, Exact::tanh, -1e-3, 1e-3}};
  Generator random(1);
  for (const Row& row : rows) {
    std::vector<double> x(1003), y(1003);
    for (double& v : x) v = row.low + (row.high - row.low) * uniform(random);
    row.function(x.data(), y.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(relative_error(y[i], row.exact(Multiprecision(x[i]))), vector_function_error)
          << x[i];
    }
  }
}

TEST(Functions, DoubleDoubleExpIsGoodToNinetyFourBits) {
  Generator random(2);
  for (int i = 0; i < 3000; ++i) {
    const double x = (2 * uniform(random) - 1) * (i % 2 == 0 ? 300 : 1);
    const DoubleDouble y =
        NumberFunctions<DoubleDouble>::exp(DoubleDouble(x, x * 0x1p-54 * uniform(random)));
    const DoubleDouble low(x, 0);
    const DoubleDouble plain = NumberFunctions<DoubleDouble>::exp(low);
    const Multiprecision exact = NumberFunctions<Multiprecision>::exp(Multiprecision(x));
    const Multiprecision computed = Multiprecision(plain.high) + Multiprecision(plain.low);
    ASSERT_LE(relative_error(computed, exact), 0x1p-94) << x;
    ASSERT_NEAR(y.high / plain.high, 1, 1e-12);
  }
}

TEST(Functions, DoubleDoubleArithmeticIsGoodToAHundredBits) {
  Generator random(3);
  const auto wide = [](const DoubleDouble& x) {
    return Multiprecision(x.high) + Multiprecision(x.low);
  };
  for (int i = 0; i < 3000; ++i) {
    const auto draw = [&] {
      const double high = normal(random) * std::exp2(20 * uniform(random));
      return double_double::quick_two_sum(high, high * 0x1p-54 * (uniform(random) - 0.5));
    };
    const DoubleDouble a = draw(), b = draw();
    const auto check = [&](const DoubleDouble& computed, const Multiprecision& exact) {
      ASSERT_LE(relative_error(wide(computed), exact), 0x1p-100);
    };
    check(a + b, wide(a) + wide(b));
    check(a * b, wide(a) * wide(b));
    check(a / b, wide(a) / wide(b));
    const DoubleDouble positive = a * a;
    check(sqrt(positive), sqrt(wide(positive)));
  }
}

}  // namespace
}  // namespace warpfuzz
