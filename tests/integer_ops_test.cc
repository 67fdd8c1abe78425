// Operators with integer operands or results: what exactly is accepted, against brute force.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/oracle.h"
#include "tests/honest_integers.h"
#include "tests/oracle_fixture.h"

namespace warpfuzz {
namespace {

using namespace testing_support;

constexpr DType f32 = DType::float32, i8 = DType::int8;

// The codes that the oracle accepts for element i.
std::vector<int> accepted_codes(const Problem& p, const Oracle& oracle, size_t i) {
  std::vector<int> codes;
  for (int code = -128; code <= 127; ++code) {
    const Floats all(static_cast<size_t>(p.output.size()), static_cast<float>(code));
    const std::vector<size_t> wrong = oracle.compare(0, p.store(all)).offending;
    if (!std::binary_search(wrong.begin(), wrong.end(), i)) codes.push_back(code);
  }
  return codes;
}

TEST(QuantizeInt8, TakesTheNearestCodeAndBothNextToATie) {
  // The largest element makes the scale 1. 2.5 + 2^-22 is 1.6 u from the tie, 2.5 + 3 * 2^-22 4.8
  // u.
  const std::vector<double> row = {127, 2.5, 2.5 + 0x1p-22, 2.5 + 0x3p-22, -2.5, 0.25, 126.7, -127};
  const std::vector<std::vector<int>> expected = {{127},    {2, 3}, {2, 3}, {3},
                                                  {-3, -2}, {0},    {127},  {-127}};
  const Problem p = make_problem({"quantize_int8", f32, i8, {1, 8}}, schema_of("quantize_int8"),
                                 [&](size_t, size_t) { return row; });
  const Oracle oracle(p.c, p.inputs);
  for (size_t i = 0; i < row.size(); ++i) EXPECT_EQ(accepted_codes(p, oracle, i), expected[i]) << i;
}

TEST(QuantizeInt8, RandomRowsTakeExactlyTheCodesWithinHalfAStep) {
  for (const Family& family : families) {
    const Problem p =
        family_problem({"quantize_int8", f32, i8, {2, 8}}, schema_of("quantize_int8"), family, 5);
    const Oracle oracle(p.c, p.inputs);
    for (size_t i = 0; i < 16; ++i) {
      const double scale = oracle.expectation(1).value[i / 8];
      if (scale < 0x1p-120) continue;  // subnormal scales are not judged
      const double code = static_cast<double>(p.x[0][i]) / scale;
      const std::vector<int> codes = accepted_codes(p, oracle, i);
      for (int c = -128; c <= 127; ++c) {
        const double beyond = std::fabs(c - code) - 0.5;
        if (std::fabs(beyond - 4 * 0x1p-24 * std::fabs(code)) < 1e-8) continue;  // at the edge
        const bool taken = std::find(codes.begin(), codes.end(), c) != codes.end();
        ASSERT_EQ(taken, beyond < 4 * 0x1p-24 * std::fabs(code)) << family.name << ' ' << code;
      }
    }
  }
}

TEST(QuantizeInt8, ZerosAreExactAndRowsWithSpecialsAreLeftOpen) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Problem p =
      make_problem({"quantize_int8", f32, i8, {3, 2}}, schema_of("quantize_int8"),
                   [&](size_t, size_t) { return std::vector<double>{0, -0.0, nan, 1, 2, -2}; });
  const Oracle oracle(p.c, p.inputs);
  EXPECT_THAT(accepted_codes(p, oracle, 0), testing::ElementsAre(0));
  EXPECT_EQ(accepted_codes(p, oracle, 3).size(), 256u);
  EXPECT_THAT(accepted_codes(p, oracle, 5), testing::ElementsAre(-127));
  const float scales[] = {0x1p-149f, 7, 2 / 127.0f};
  const Comparison verdict = oracle.compare(1, p.store(scales, 1));
  EXPECT_THAT(verdict.offending, testing::ElementsAre(0));
  EXPECT_EQ(verdict.undecided, 1u);
}

TEST(QuantizeInt8, ErrorsAsAWholeAreThoseOfRoundingToCodes) {
  Generator random(5);
  const Problem p = make_problem({"quantize_int8", f32, i8, {8, 400}}, schema_of("quantize_int8"),
                                 [&](size_t, size_t size) {
                                   std::vector<double> x(size);
                                   for (double& v : x) v = normal(random);
                                   return x;
                                 });
  const Oracle oracle(p.c, p.inputs);
  const HonestRun run = honest_quantize_int8(p)[0];
  const auto error_of = [&](const Floats& codes) {
    return *oracle.quantisation(std::vector{p.store(codes, 0), p.store(run.output(1), 1)});
  };
  const QuantisationError honest = error_of(run.output(0));
  EXPECT_EQ(honest.elements, 3200u);
  EXPECT_NEAR(honest.rmse(), honest.most_rmse() / 1.3, 0.05 * honest.rmse());
  EXPECT_LT(honest.relative_l1(), honest.most_relative_l1());
  EXPECT_GT(honest.cosine(), honest.least_cosine());
  Floats truncated = run.output(0);
  for (size_t i = 0; i < truncated.size(); ++i) {
    truncated[i] = std::trunc(p.x[0][i] / run.output(1)[i / 400]);
  }
  const QuantisationError faulty = error_of(truncated);
  EXPECT_GT(faulty.rmse(), faulty.most_rmse());
  EXPECT_GT(faulty.relative_l1(), faulty.most_relative_l1());
  EXPECT_LT(faulty.cosine(), faulty.least_cosine());
}

// The prediction against numbers that are quantised here.
TEST(W8A8Matmul, PredictsTheErrorThatQuantisingItsOperandsMakes) {
  Generator random(6);
  constexpr size_t m = 24, n = 20, k = 300;
  const auto draw = [&](size_t size) {
    std::vector<double> values(size);
    for (double& v : values) v = normal(random);
    return values;
  };
  const std::vector<double> a = draw(m * k), b = draw(k * n);
  std::vector<double> scales_a(m), scales_b(n), codes_a(m * k), codes_b(k * n);
  const auto scale_of = [](const std::vector<double>& v, size_t begin, size_t step, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(v[begin + i * step]));
    return static_cast<double>(static_cast<float>(largest / 127));
  };
  for (size_t i = 0; i < m; ++i) scales_a[i] = scale_of(a, i * k, 1, k);
  for (size_t j = 0; j < n; ++j) scales_b[j] = scale_of(b, j, n, k);
  for (size_t i = 0; i < m * k; ++i) codes_a[i] = std::nearbyint(a[i] / scales_a[i / k]);
  for (size_t i = 0; i < k * n; ++i) codes_b[i] = std::nearbyint(b[i] / scales_b[i % n]);
  const std::vector<double>* operands[] = {&codes_a, &codes_b, &scales_a, &scales_b};
  const Problem p = make_problem({"w8a8_matmul", i8, f32, {m, n, k}}, schema_of("w8a8_matmul"),
                                 [&](size_t input, size_t) { return *operands[input]; });
  const Oracle oracle(p.c, p.inputs);
  const QuantisationError kernel =
      *oracle.quantisation(std::vector{p.store(honest_w8a8_matmul(p)[0].output(0))});
  EXPECT_EQ(kernel.elements, m * n);
  EXPECT_LT(kernel.rmse(), 1e-4 * kernel.most_rmse());  // it adds next to nothing
  double squares = 0;
  const OutputExpectation& quantised = oracle.expectation(0);
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; ++j) {
      double product = 0;
      for (size_t l = 0; l < k; ++l) product += a[i * k + l] * b[l * n + j];
      squares += (quantised.value[i * n + j] - product) * (quantised.value[i * n + j] - product);
    }
  }
  const double made = std::sqrt(squares / static_cast<double>(m * n));
  EXPECT_NEAR(made, kernel.most_rmse() / 1.3, 0.1 * made);
}

TEST(Softmax, IsNotQuantised) {
  const Problem p = make_problem({"softmax", f32, f32, {1, 3}}, schema_of("softmax"),
                                 [](size_t, size_t size) { return std::vector<double>(size); });
  const Oracle oracle(p.c, p.inputs);
  EXPECT_FALSE(oracle.quantisation(std::vector{p.store(Floats(3))}).has_value());
}

TEST(W8A8Matmul, SumsAreThoseOfIntegersAndScalesRoundThreeTimesAtMost) {
  Generator random(1);
  for (const int64_t k : {0, 1, 100, 5000}) {
    const auto fill = [&](size_t input, size_t size) {
      std::vector<double> values(size);
      for (double& v : values) {
        v = input < 2 ? std::floor(256 * uniform(random)) - 128 : normal(random);
      }
      return values;
    };
    const Problem p =
        make_problem({"w8a8_matmul", f32, f32, {3, 4, k}}, schema_of("w8a8_matmul"), fill);
    const OutputExpectation c = Oracle(p.c, p.inputs).expectation(0);
    const size_t depth = static_cast<size_t>(k);
    for (size_t e = 0; e < 12; ++e) {
      int64_t sum = 0;
      for (size_t i = 0; i < depth; ++i) {
        sum += static_cast<int64_t>(p.x[0][e / 4 * depth + i] * p.x[1][i * 4 + e % 4]);
      }
      const double exact = static_cast<double>(sum) * static_cast<double>(p.x[2][e / 4]) *
                           static_cast<double>(p.x[3][e % 4]);
      EXPECT_NEAR(c.value[e], exact, 0x1p-50 * std::fabs(exact));
      const double roundings = std::abs(sum) > 1 << 24 ? 3.001 : 2.001;
      EXPECT_LE(c.tolerance[e], roundings * 0x1p-24 * std::fabs(exact) + 0x1p-126);
    }
  }
}

// 3 sa may be exact where sa sb and 3 (sa sb) both are rounded.
TEST(W8A8Matmul, ScalesMayBeMultipliedFirst) {
  Generator random(2);
  const auto schema = schema_of("w8a8_matmul");
  for (int round = 0; round < 2000; ++round) {
    const auto fill = [&](size_t input, size_t size) {
      const double bits = std::exp2(round % 24);
      const double value = input == 0 ? 3 : input == 1 ? 1 : std::floor(bits * uniform(random)) + 1;
      return std::vector<double>(size, value);
    };
    const Problem p = make_problem({"w8a8_matmul", f32, f32, {1, 1, 1}}, schema, fill);
    const Oracle oracle(p.c, p.inputs);
    for (const HonestRun& run : honest_w8a8_matmul(p)) {
      ASSERT_TRUE(oracle.compare(0, p.store(run.y)).offending.empty()) << run.name;
    }
  }
}

TEST(W8A8Matmul, AnyIntegerButTheSumIsRejected) {
  const Problem p = make_problem(
      {"w8a8_matmul", f32, f32, {1, 1, 100}}, schema_of("w8a8_matmul"),
      [](size_t input, size_t size) { return std::vector<double>(size, input < 2 ? 127 : 0.3); });
  const Oracle oracle(p.c, p.inputs);
  for (const int64_t off : {-1, 0, 1}) {
    const float c = static_cast<float>(16129 * 100 + off) * (0.3f * 0.3f);
    EXPECT_EQ(oracle.compare(0, p.store({&c, 1})).offending.empty(), off == 0) << off;
  }
}

TEST(ScatterAdd, GivesTheSumsOfTheRowsThatMeet) {
  for (const Family& family : families) {
    const Problem p =
        family_problem({"scatter_add", f32, f32, {60, 4, 3}}, schema_of("scatter_add"), family, 3);
    const OutputExpectation y = Oracle(p.c, p.inputs).expectation(0);
    for (size_t e = 0; e < 12; ++e) {
      long double sum = 0, magnitude = 0;
      for (size_t i = 0; i < 60; ++i) {
        if (static_cast<size_t>(p.x[0][i]) != e / 3) continue;
        sum += static_cast<long double>(p.x[1][i * 3 + e % 3]);
        magnitude += std::fabs(static_cast<long double>(p.x[1][i * 3 + e % 3]));
      }
      EXPECT_NEAR(y.value[e], static_cast<double>(sum), y.oracle_error[e]) << family.name;
      EXPECT_LE(y.certain[e], 61 * 0x1p-24 * static_cast<double>(magnitude) + 0x1p-118);
    }
  }
}

TEST(ScatterAdd, OneAddendIsACopyAndNoneIsZero) {
  const Problem p = make_problem(
      {"scatter_add", f32, f32, {3, 3, 1}}, schema_of("scatter_add"), [](size_t input, size_t) {
        return input == 0 ? std::vector<double>{2, 2, 0} : std::vector<double>{0.1, 0.2, 0.3};
      });
  const Oracle oracle(p.c, p.inputs);
  const float y[] = {0.3f, 0, 0.1f + 0.2f};
  EXPECT_TRUE(oracle.compare(0, p.store(y)).offending.empty());
  const float off[] = {std::nextafter(0.3f, 1.0f), 1e-40f, 0.1f + 0.2f};
  EXPECT_THAT(oracle.compare(0, p.store(off)).offending, testing::ElementsAre(0, 1));
}

// Every order of addition that float allows stays within the classes.
TEST(ScatterAdd, ClassesHoldInEveryOrder) {
  const double inf = std::numeric_limits<double>::infinity();
  const double specials[] = {0,    1,     inf, -inf, std::numeric_limits<double>::quiet_NaN(),
                             3e38, -3e38, 1e38};
  Generator random(3);
  size_t non_finite = 0;
  const auto schema = schema_of("scatter_add");
  for (int round = 0; round < 1000; ++round) {
    const auto fill = [&](size_t input, size_t size) {
      std::vector<double> values(size, 0);
      for (double& v : values) v = input == 0 ? 0 : specials[random() % std::size(specials)];
      return values;
    };
    const Problem p = make_problem({"scatter_add", f32, f32, {4, 1, 1}}, schema, fill);
    const Oracle oracle(p.c, p.inputs);
    std::vector<size_t> order = {0, 1, 2, 3};
    do {
      float sum = 0;
      for (const size_t i : order) sum += p.x[1][i];
      ASSERT_TRUE(oracle.compare(0, p.store({&sum, 1})).offending.empty())
          << fmt::format("{} gives {}", fmt::join(p.x[1], " "), sum);
      non_finite += !std::isfinite(sum);
    } while (std::next_permutation(order.begin(), order.end()));
  }
  EXPECT_GT(non_finite, 1000u);
}

}  // namespace
}  // namespace warpfuzz
