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

}  // namespace
}  // namespace warpfuzz
