// References: non-finite classes against the tables and against brute force, conventions at the
// edges, exactness on lattices, and level 0's error bound against multiprecision.
#include "reference/reference.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "reference/call.h"
#include "reference/oracle.h"
#include "reference/refinement.h"
#include "tests/honest_ops.h"
#include "tests/oracle_fixture.h"

namespace warpfuzz {
namespace {

using namespace testing_support;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr DType f32 = DType::float32, f16 = DType::float16, bf16 = DType::bfloat16;

using Values = std::vector<std::vector<double>>;

Problem problem(const ProblemSpec& spec, const Values& values) {
  return make_problem(spec, schema_of(spec.op),
                      [&](size_t input, size_t) { return values[input]; });
}

std::string classes_text(const std::vector<uint8_t>& allowed) {
  std::string text;
  for (const uint8_t bits : allowed) {
    if (!text.empty()) text += ' ';
    text += bits & class_finite ? "f" : "";
    text += bits & class_positive_infinity ? "+" : "";
    text += bits & class_negative_infinity ? "-" : "";
    text += bits & class_nan ? "n" : "";
  }
  return text;
}

// --- classes of the outputs: f finite, + and - infinities, n NaN

struct ClassRow {
  const char* name;
  ProblemSpec spec;
  Values inputs;
  const char* allowed;
};

const std::vector<AttributeValue> erf_form = {{.integer = 0}}, tanh_form = {{.integer = 1}};
const std::vector<AttributeValue> eps = {{.real = 1e-5}}, no_eps = {{.real = 0}};
const std::vector<AttributeValue> slope = {{.real = 0.01}}, alpha = {{.real = 1}};
const std::vector<AttributeValue> open = {{.integer = 0}}, causal = {{.integer = 1}};

const ClassRow class_rows[] = {
    {"relu", {"relu", f32, f32, {1, 4}}, {{nan, inf, -inf, -1}}, "n + f f"},
    {"silu", {"silu", f32, f32, {1, 5}}, {{nan, inf, -inf, -1e30, 3}}, "n + fn f f"},
    {"gelu", {"gelu", f32, f32, {1, 5}, erf_form}, {{nan, inf, -inf, -1e30, 1e38}}, "n + fn f f"},
    {"gelu_tanh",
     {"gelu", f32, f32, {1, 5}, tanh_form},
     {{nan, inf, -inf, -1e30, 1e38}},
     "n + fn f f"},
    {"softmax_nan", {"softmax", f32, f32, {2, 3}}, {{1, nan, 2, 1, 2, 3}}, "n n n f f f"},
    {"softmax_inf", {"softmax", f32, f32, {1, 3}}, {{1, inf, 2}}, "n n n"},
    {"softmax_minus_inf", {"softmax", f32, f32, {1, 3}}, {{1, -inf, 2}}, "f f f"},
    {"softmax_masked", {"softmax", f32, f32, {1, 2}}, {{-inf, -inf}}, "fn fn"},
    {"rmsnorm_nan", {"rmsnorm", f32, f32, {1, 2}, eps}, {{nan, 1}, {1, 1}}, "n n"},
    {"rmsnorm_inf", {"rmsnorm", f32, f32, {1, 3}, eps}, {{inf, 1, 0}, {1, 1, 1}}, "n fn fn"},
    {"rmsnorm_zero", {"rmsnorm", f32, f32, {1, 2}, eps}, {{0, 0}, {1, inf}}, "f n"},
    {"rmsnorm_zero_without_eps", {"rmsnorm", f32, f32, {1, 2}, no_eps}, {{0, 0}, {1, 1}}, "n n"},
    {"rmsnorm_weight", {"rmsnorm", f32, f32, {1, 3}, eps}, {{1, -2, 3}, {inf, inf, nan}}, "+ - n"},
    {"rmsnorm_overflow", {"rmsnorm", f32, f32, {1, 2}, eps}, {{1e38, 1}, {1, 1}}, "f+-n f+-n"},
    {"layernorm_nan", {"layernorm", f32, f32, {1, 2}, eps}, {{nan, 1}, {1, 1}, {0, 0}}, "n n"},
    {"layernorm_inf",
     {"layernorm", f32, f32, {1, 3}, eps},
     {{inf, 1, 0}, {1, 1, 1}, {0, 0, 0}},
     "n n n"},
    {"layernorm_bias", {"layernorm", f32, f32, {1, 2}, eps}, {{1, 2}, {1, 1}, {inf, nan}}, "+ n"},
    {"matmul_zero_times_inf", {"matmul", f32, f32, {1, 2, 2}}, {{0, 1}, {inf, 1, 1, 1}}, "n f"},
    {"matmul_inf_minus_inf", {"matmul", f32, f32, {1, 2, 2}}, {{inf, 1}, {1, 1, -inf, 1}}, "n +"},
    {"matmul_overflow",
     {"matmul", f32, f32, {1, 3, 2}},
     {{3e38, 3e38}, {1, 1, 1, 1, -1, 0.01}},
     "+ f f"},
    {"matmul_both_signs",
     {"matmul", f32, f32, {1, 1, 4}},
     {{3e38, 3e38, 3e38, 3e38}, {1, 1, -1, -1}},
     "f+-n"},
    {"matmul_half_edge",
     {"matmul", f16, f16, {1, 3, 3}},
     {{256, 1, 1}, {255.75, 255.75, 256, 47.96875, 47, 1, 0.015625, 0, 0}},
     "f+ f +"},
    {"attention_masked_row",
     {"attention", f32, f32, {1, 2, 1, 1}, causal},
     {{1, 1}, {1}, {5}},
     "fn f"},
    {"attention_masked_nan",
     {"attention", f32, f32, {1, 2, 2, 1}, causal},
     {{1, 1}, {1, nan}, {5, 6}},
     "fn n"},
    {"attention_masked_value",
     {"attention", f32, f32, {1, 2, 2, 1}, causal},
     {{1, 1}, {1, 1}, {5, inf}},
     "fn +"},
    {"attention_inf_score",
     {"attention", f32, f32, {1, 1, 2, 1}, open},
     {{1}, {inf, 1}, {5, 6}},
     "n"},
    {"attention_minus_inf_score",
     {"attention", f32, f32, {1, 1, 2, 1}, open},
     {{1}, {-inf, 1}, {5, 6}},
     "f"},
    {"attention_weightless_inf",
     {"attention", f32, f32, {1, 1, 2, 1}, open},
     {{1}, {-200, 1}, {inf, 6}},
     "+-n"},
    {"sigmoid", {"sigmoid", f32, f32, {1, 5}}, {{nan, inf, -inf, -1e30, 3}}, "n f f f f"},
    {"tanh", {"tanh", f32, f32, {1, 4}}, {{nan, inf, -inf, 1e30}}, "n f f f"},
    {"leaky_relu", {"leaky_relu", f32, f32, {1, 4}, slope}, {{nan, inf, -inf, -3e38}}, "n + - f"},
    {"leaky_relu_of_slope_0", {"leaky_relu", f32, f32, {1, 2}, no_eps}, {{-inf, -1}}, "n f"},
    {"elu", {"elu", f32, f32, {1, 4}, alpha}, {{nan, inf, -inf, 1e30}}, "n + f f"},
    {"l2norm_inf", {"l2norm", f32, f32, {1, 3}, eps}, {{inf, 1, 0}}, "n fn fn"},
    {"l2norm_nan", {"l2norm", f32, f32, {1, 2}, eps}, {{nan, 1}}, "n n"},
    {"l2norm_zero_without_eps", {"l2norm", f32, f32, {1, 2}, no_eps}, {{0, 0}}, "n n"},
    {"silu_row_sum_inf", {"silu_row_sum", f32, f32, {2, 2}}, {{inf, 1, 2, 1}}, "+ + f f"},
    {"silu_row_sum_minus_inf", {"silu_row_sum", f32, f32, {1, 2}}, {{1, -inf}}, "fn fn"},
    {"silu_row_sum_both", {"silu_row_sum", f32, f32, {1, 2}}, {{inf, -inf}}, "+n +n"},
    {"softmax_backward_inf", {"softmax_backward", f32, f32, {1, 2}}, {{1, 1}, {1, inf}}, "- n"},
    {"softmax_backward_zero_times_inf",
     {"softmax_backward", f32, f32, {1, 2}},
     {{1, 0}, {inf, 1}},
     "n n"},
    {"sum_specials", {"sum", f32, f32, {3, 2}}, {{inf, 1, inf, -inf, nan, 1}}, "+ n n"},
    {"sum_overflow", {"sum", f32, f32, {1, 2}}, {{3e38, 3e38}}, "+"},
    {"sum_overflow_on_the_way", {"sum", f32, f32, {1, 3}}, {{3e38, 1e38, -1e38}}, "f+"},
    {"sum_both_signs", {"sum", f32, f32, {1, 4}}, {{3e38, 3e38, -3e38, -3e38}}, "f+-n"},
    {"mean_of_an_overflowing_sum", {"mean", f32, f32, {1, 2}}, {{3e38, 3e38}}, "f+"},
    {"amax_specials",
     {"amax", f32, f32, {4, 2}},
     {{1, nan, -inf, -inf, -inf, inf, -inf, 1}},
     "n - + f"},
    {"logsumexp_specials",
     {"logsumexp", f32, f32, {4, 2}},
     {{inf, 1, -inf, -inf, -inf, 1, nan, inf}},
     "+n -n f n"},
    {"cumsum_specials", {"cumsum", f32, f32, {1, 4}}, {{1, inf, -inf, 2}}, "f + n n"},
    {"cumsum_overflow", {"cumsum", f32, f32, {1, 3}}, {{3e38, 3e38, -3e38}}, "f + f+"},
};

void PrintTo(const ClassRow& row, std::ostream* out) { *out << row.name; }

class NonFinite : public testing::TestWithParam<ClassRow> {};
INSTANTIATE_TEST_SUITE_P(Rows, NonFinite, testing::ValuesIn(class_rows),
                         [](const auto& row) { return row.param.name; });
TEST_P(NonFinite, ClassesAreThoseOfTheTable) {
  const ClassRow& row = GetParam();
  const Problem p = problem(row.spec, row.inputs);
  EXPECT_EQ(classes_text(Oracle(p.c, p.inputs).expectation(0).allowed), row.allowed);
}

TEST(NonFinite, LostAndInventedClassesAreCertainOffences) {
  const Problem p = problem({"relu", f32, f32, {1, 3}}, {{nan, inf, 1}});
  const Oracle oracle(p.c, p.inputs);
  const float observed[] = {0, std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::quiet_NaN()};
  const Comparison verdict = oracle.compare(0, p.store(observed));
  EXPECT_THAT(verdict.offending, testing::ElementsAre(0, 1, 2));
  for (const Offence& offence : verdict.offences) {
    EXPECT_EQ(offence.kind, OffenceKind::non_finite);
    EXPECT_EQ(offence.strength, OffenceStrength::certain);
  }
}

// Every order of summation that float allows stays within the classes, over all small products.
TEST(NonFinite, MatmulClassesHoldInEveryOrder) {
  const double specials[] = {0, 1, -2, inf, -inf, nan, 3e38, -3e38, 1e38};
  Generator random(3);
  size_t non_finite = 0;
  for (int round = 0; round < 4000; ++round) {
    const size_t k = 1 + random() % 4;
    Values values(2);
    for (size_t i = 0; i < k; ++i) {
      values[0].push_back(specials[random() % std::size(specials)]);
      values[1].push_back(specials[random() % std::size(specials)]);
    }
    const Problem p = problem({"matmul", f32, f32, {1, 1, static_cast<int64_t>(k)}}, values);
    const Oracle oracle(p.c, p.inputs);
    std::vector<size_t> order(k);
    std::iota(order.begin(), order.end(), 0);
    std::set<uint8_t> seen;
    do {
      float rounded = 0, fused = 0;
      for (const size_t i : order) {
        rounded += p.x[0][i] * p.x[1][i];
        fused = std::fma(p.x[0][i], p.x[1][i], fused);
      }
      for (const float c : {rounded, fused}) {
        const Comparison verdict = oracle.compare(0, p.store({{c}}));
        ASSERT_TRUE(verdict.offending.empty()) << fmt::format(
            "{} x {} in some order gives {}, allowed {}", fmt::join(values[0], " "),
            fmt::join(values[1], " "), c, classes_text(oracle.expectation(0).allowed));
        non_finite += !std::isfinite(c);
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
  EXPECT_GT(non_finite, 1000u);  // not vacuous
}

// --- edges

TEST(Edges, EmptyReductionGivesExactZeros) {
  const Problem p = problem({"matmul", f32, f32, {2, 2, 0}}, {{}, {}});
  const Oracle oracle(p.c, p.inputs);
  EXPECT_TRUE(oracle.expectation(0).exact);
  EXPECT_THAT(oracle.expectation(0).value, testing::Each(0.0));
  EXPECT_TRUE(oracle.compare(0, p.store({{0, -0.0f, 0, 0}})).offending.empty());
  EXPECT_FALSE(oracle.compare(0, p.store({{0, 0, 1e-45f, 0}})).offending.empty());
}

TEST(Edges, EmptySumsAreZeroAndTiesGoToTheFirst) {
  const Problem nothing = problem({"sum", f32, f32, {2, 0}}, {{}});
  EXPECT_THAT(Oracle(nothing.c, nothing.inputs).expectation(0).value, testing::Each(0.0));
  const Problem ties = problem({"argmax", f32, DType::int64, {4, 3}},
                               {{1, 5, 5, 7, nan, nan, -0.0, 0, -1, 1, 2, inf}});
  const Oracle oracle(ties.c, ties.inputs);
  EXPECT_THAT(oracle.expectation(0).value, testing::ElementsAre(1, 1, 0, 2));
  EXPECT_TRUE(oracle.expectation(0).exact);
  EXPECT_THAT(oracle.compare(0, ties.store({{2, 2, 0, 2}})).offending, testing::ElementsAre(0, 1));
}

TEST(Edges, EmptyOutputsHaveNothingToJudge) {
  for (const auto& [op, axes] : std::vector<std::pair<const char*, std::vector<int64_t>>>{
           {"softmax", {3, 0}}, {"softmax", {0, 3}}, {"relu", {0, 0}}, {"matmul", {0, 2, 2}}}) {
    const Problem p = make_problem({op, f32, f32, axes}, schema_of(op), [](size_t, size_t size) {
      return std::vector<double>(size, 1.0);
    });
    const Comparison verdict = Oracle(p.c, p.inputs).compare(0, p.store({}));
    EXPECT_TRUE(verdict.offending.empty()) << op;
    EXPECT_EQ(verdict.worst_ratio, 0) << op;
  }
}

TEST(Edges, FullyMaskedRowsAreZeroOrNaN) {
  const Problem p = problem({"attention", f32, f32, {1, 2, 1, 1}, causal}, {{1, 1}, {1}, {5}});
  const Oracle oracle(p.c, p.inputs);
  const float quiet = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(oracle.compare(0, p.store({{0, 5}})).offending.empty());
  EXPECT_TRUE(oracle.compare(0, p.store({{quiet, 5}})).offending.empty());
  EXPECT_FALSE(oracle.compare(0, p.store({{5, 5}})).offending.empty());
}

TEST(Edges, CausalRowsSeeTheKeysUpToTheirOwn) {
  // Equal scores: the mean of the visible values.
  const Problem p =
      problem({"attention", f32, f32, {1, 2, 3, 1}, causal}, {{0, 0}, {1, 2, 3}, {3, 6, 12}});
  const OutputExpectation y = Oracle(p.c, p.inputs).expectation(0);
  EXPECT_DOUBLE_EQ(y.value[0], 4.5);
  EXPECT_DOUBLE_EQ(y.value[1], 7);
}

TEST(Edges, UnknownOperatorsAreRefusedByName) {
  auto schema = std::make_shared<Schema>(*schema_of("relu"));
  schema->name = "conv";
  schema->op_type = "convolution";
  Case c;
  c.schema = schema;
  try {
    const Oracle oracle(c, {});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()),
              fmt::format("conv: found no reference for this operator (op_type \"convolution\"), "
                          "expected one of: {}",
                          fmt::join(reference_names(), ", ")));
  }
}

TEST(Edges, EverySchemaHasAReference) {
  for (const auto& schema : load_schemas(std::string(WARPFUZZ_SOURCE_DIR) + "/schemas")) {
    EXPECT_NE(find_reference(schema->name, schema->op_type), nullptr) << schema->name;
  }
}

// --- exactness

TEST(Exact, LatticeProductsHaveNoToleranceAndRandomOnesDo) {
  Generator random(1);
  const auto fill = [&](size_t, size_t size) {
    std::vector<double> x(size);
    for (double& v : x) v = std::floor(63 * (2 * uniform(random) - 1));
    return x;
  };
  for (const DType type : {f32, f16, bf16}) {
    ProblemSpec spec{"matmul", type, type, {3, 5, 257}, {}, ValueLaw::lattice};
    const Problem lattice = make_problem(spec, schema_of("matmul"), fill);
    const Oracle oracle(lattice.c, lattice.inputs);
    EXPECT_TRUE(oracle.expectation(0).exact) << name(type);
    // One unit in the last place off is an offence.
    for (const HonestRun& run : honest_matmul(lattice)) {
      EXPECT_TRUE(oracle.compare(0, lattice.store(run.y)).offending.empty()) << run.name;
    }
    Tensor off = lattice.store(honest_matmul(lattice)[0].y);
    off.data[0] ^= std::byte{1};
    const Comparison verdict = oracle.compare(0, off);
    ASSERT_EQ(verdict.offences.size(), 1u) << name(type);
    EXPECT_EQ(verdict.offences[0].strength, OffenceStrength::certain);
  }
  const Problem plain =
      family_problem({"matmul", f32, f32, {3, 5, 257}}, schema_of("matmul"), families[0], 1);
  EXPECT_FALSE(Oracle(plain.c, plain.inputs).expectation(0).exact);
}

TEST(Exact, ProductsBeyondTheAccumulatorAreNotExact) {
  // 2^12 * 2^12 * 3 > 2^24 quanta of 1.
  const ProblemSpec spec{"matmul", f32, f32, {1, 1, 3}, {}, ValueLaw::lattice};
  const Problem p = problem(spec, {{4097, 4097, 1}, {4097, 4097, 1}});
  EXPECT_FALSE(Oracle(p.c, p.inputs).expectation(0).exact);
}

TEST(Exact, UniformSoftmaxOverAPowerOfTwo) {
  const ProblemSpec spec{"softmax", f32, f32, {1, 64}, {}, ValueLaw::constant};
  const Problem zeros = problem(spec, {std::vector<double>(64, 0.0)});
  EXPECT_TRUE(Oracle(zeros.c, zeros.inputs).expectation(0).exact);
  EXPECT_THAT(Oracle(zeros.c, zeros.inputs).expectation(0).value, testing::Each(1.0 / 64));
  // With a maximum other than 0 the fused exponential rounds the shift.
  const Problem ones = problem(spec, {std::vector<double>(64, 1.0)});
  EXPECT_FALSE(Oracle(ones.c, ones.inputs).expectation(0).exact);
}

TEST(Exact, UniformAttentionOverAPowerOfTwo) {
  Generator random(2);
  const auto fill = [&](size_t input, size_t size) {
    std::vector<double> x(size);
    for (double& v : x) v = input == 0 ? 0 : std::floor(200 * (2 * uniform(random) - 1));
    return x;
  };
  for (const int64_t n : {64, 65}) {
    const ProblemSpec spec{"attention", f16, f16, {1, 2, n, 8}, open, ValueLaw::lattice};
    const Problem p = make_problem(spec, schema_of("attention"), fill);
    EXPECT_EQ(Oracle(p.c, p.inputs).expectation(0).exact, n == 64);
  }
}

TEST(Exact, ReluCopies) {
  const Problem p = problem({"relu", f32, f32, {1, 4}}, {{1e-40, -1, 0.1, 3e38}});
  const Oracle oracle(p.c, p.inputs);
  EXPECT_TRUE(oracle.expectation(0).exact);
  EXPECT_TRUE(oracle.compare(0, p.store({{1e-40f, -0.0f, 0.1f, 3e38f}})).offending.empty());
  const Comparison flushed = oracle.compare(0, p.store({{0, 0, 0.1f, 3e38f}}));
  ASSERT_EQ(flushed.offences.size(), 1u);
  EXPECT_EQ(flushed.offences[0].kind, OffenceKind::subnormal);
}

}  // namespace
}  // namespace warpfuzz
