// The laws made of pairs: exact products, cancellation, and what they expose.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "reference/number_format.h"
#include "seeds/pairs.h"
#include "tests/law_fixture.h"

namespace warpfuzz {
namespace {

TEST(PairPlan, IsABijectionWithFewUnpaired) {
  for (int64_t length = 1; length <= 600; ++length) {
    const PairPlan plan(length);
    const auto size = static_cast<uint64_t>(length);
    std::vector<uint64_t> position(size, UINT64_MAX);
    for (uint64_t p = 0; p < size; ++p) position.at(plan.rank(p)) = p;
    ASSERT_EQ(std::count(position.begin(), position.end(), UINT64_MAX), 0) << length;
    ASSERT_EQ(plan.paired() % 2, 0u);
    ASSERT_LE(size - plan.paired(), most_unpaired);
    for (uint64_t r = 0; r + 1 < plan.paired(); r += 2) {
      ASSERT_EQ((position[r] + plan.distance()) % size, position[r + 1]) << length;
    }
  }
  // Far apart, so that partial sums grow.
  EXPECT_GE(PairPlan(1000).distance(), 375u);
  EXPECT_EQ(PairPlan(4096).distance() % 2, 1u);
}

// The lattice recipe for all lengths: sum |a b| within 2^24 quanta, pairs cancel, the total is
// small.
void expect_exact_products(const LawArguments& a_arguments, const LawArguments& b_arguments,
                           double largest_total) {
  const std::vector<double> a = values_of(ValueLaw::lattice, a_arguments);
  const std::vector<double> b = values_of(ValueLaw::lattice, b_arguments);
  const PairPlan plan(a_arguments.length);
  double magnitude = 0, total = 0, pairs = 0;
  std::vector<double> products(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const double product = a[i] * b[i];
    ASSERT_EQ(a[i], std::trunc(a[i]));
    ASSERT_EQ(b[i], std::trunc(b[i]));
    ASSERT_NE(product, 0) << i;
    magnitude += std::fabs(product);
    total += product;
    if (plan.rank(i) < plan.paired()) pairs += product;
    products[plan.rank(i)] = product;
  }
  ASSERT_LE(magnitude, 0x1p24) << a_arguments.length;
  ASSERT_EQ(pairs, 0) << a_arguments.length;
  ASSERT_LE(std::fabs(total), largest_total) << a_arguments.length;
  for (uint64_t r = 0; r < plan.paired(); r += 2) ASSERT_EQ(products[r], -products[r + 1]);
}

TEST(Lattice, ProductsAreExactForAllLengths) {
  for (int64_t length = 0; length <= 5000; length += length < 300 ? 1 : 13) {
    for (DType dtype : float_types) {
      LawArguments a = row(static_cast<uint64_t>(length), length, dtype);
      LawArguments b = row(7, length, dtype);
      b.pairs_negate = false;
      expect_exact_products(a, b, 248);
      if (dtype == DType::float32) {
        a.wide = b.wide = true;
        expect_exact_products(a, b, 8 * 4095);
      }
      if (HasFatalFailure()) return;
    }
  }
  for (int64_t length : {65'536, 70'001, 524'288}) {
    LawArguments a = row(1, length);
    LawArguments b = row(2, length);
    b.pairs_negate = false;
    expect_exact_products(a, b, 248);
    a.wide = b.wide = true;
    expect_exact_products(a, b, 8 * 4095);
  }
}

TEST(Lattice, IsExactlyRepresentable) {
  for (DType dtype : float_types) {
    for (int64_t length : {5, 100, 3000}) {
      for (ValueLaw law : {ValueLaw::lattice, ValueLaw::coarse_lattice}) {
        for (double x : values_of(law, row(3, length, dtype))) {
          ASSERT_EQ(decode_element(dtype, encode_element(dtype, x)), x) << name(dtype);
        }
      }
    }
  }
}

TEST(Lattice, UsesItsAmplitude) {
  LawArguments a = row(1, 1000);
  const auto largest = [&] {
    double result = 0;
    for (double x : values_of(ValueLaw::lattice, a)) result = std::max(result, std::fabs(x));
    return result;
  };
  EXPECT_EQ(largest(), 127);
  a.pairs_negate = false;
  EXPECT_EQ(largest(), 63);
  a.wide = true;
  EXPECT_EQ(largest(), 1);
  a.pairs_negate = true;
  EXPECT_GT(largest(), 4000);
}

// What the lattice is for: float16 or bfloat16 accumulation goes wrong, float32 never does.
TEST(Lattice, ExposesNarrowAccumulators) {
  const auto wrong = [](DType accumulator, int64_t length) {
    int count = 0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
      LawArguments a = row(seed, length, DType::bfloat16);
      LawArguments b = row(seed + 100, length, DType::bfloat16);
      b.pairs_negate = false;
      const std::vector<double> x = values_of(ValueLaw::lattice, a);
      const std::vector<double> y = values_of(ValueLaw::lattice, b);
      double exact = 0, sum = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        exact += x[i] * y[i];
        sum = decode_element(accumulator, encode_element(accumulator, sum + x[i] * y[i]));
      }
      count += sum != exact;
    }
    return count;
  };
  for (int64_t length : {32, 65, 257, 1000, 4096}) {
    EXPECT_EQ(wrong(DType::float32, length), 0);
    EXPECT_GE(wrong(DType::float16, length), 32) << length;
    EXPECT_GE(wrong(DType::bfloat16, length), 38) << length;
  }
}

TEST(CoarseLattice, IsExactInEightBits) {
  for (int64_t length : {1, 2, 100, 128, 129, 1000, 70'000}) {
    LawArguments a = row(1, length);
    LawArguments b = row(2, length);
    b.pairs_negate = false;
    const std::vector<double> x = values_of(ValueLaw::coarse_lattice, a);
    const std::vector<double> y = values_of(ValueLaw::coarse_lattice, b);
    double magnitude = 0, products = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_TRUE(x[i] == 0 || std::fabs(x[i]) == 1);
      magnitude += std::fabs(x[i]);
      products += std::fabs(x[i] * y[i]);
    }
    EXPECT_LE(magnitude, 128);
    if (length >= 100) EXPECT_GE(products, 35) << length;  // the places coincide
  }
}

TEST(CancellingPairs, Cancel) {
  LawArguments a = row(1, 1001);
  LawArguments b = row(2, 1001);
  b.pairs_negate = false;
  const std::vector<double> x = values_of(ValueLaw::cancelling_pairs, a);
  const std::vector<double> y = values_of(ValueLaw::cancelling_pairs, b);
  const PairPlan plan(1001);
  std::vector<double> products(1001);
  for (size_t i = 0; i < x.size(); ++i) products[plan.rank(i)] = x[i] * y[i];
  double magnitude = 0;
  for (size_t r = 0; r < plan.paired(); r += 2) {
    EXPECT_EQ(products[r], -products[r + 1]);
    magnitude += std::fabs(products[r]);
  }
  EXPECT_GT(magnitude, 10'000);
}

}  // namespace
}  // namespace warpfuzz
