// The levels of the oracle against each other: each keeps within the error bound it states, and
// cancellation that defeats one level is decided by the next.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "reference/audit.h"
#include "reference/call.h"
#include "reference/oracle.h"
#include "reference/reference.h"
#include "reference/refinement.h"
#include "schemas/check.h"
#include "tests/oracle_fixture.h"

namespace warpfuzz {
namespace {

using namespace testing_support;

constexpr DType f32 = DType::float32;

using Values = std::vector<std::vector<double>>;

Problem problem(const ProblemSpec& spec, const Values& values) {
  return make_problem(spec, schema_of(spec.op),
                      [&](size_t input, size_t) { return values[input]; });
}

const std::vector<AttributeValue> erf_form = {{.integer = 0}}, tanh_form = {{.integer = 1}};
const std::vector<AttributeValue> eps = {{.real = 1e-5}};
const std::vector<AttributeValue> open = {{.integer = 0}}, causal = {{.integer = 1}};

struct LevelRow {
  std::string_view op;
  std::vector<int64_t> axes;
  std::vector<AttributeValue> attributes;
  DType output = f32;
};
const LevelRow level_rows[] = {
    {"relu", {1, 40}, {}},
    {"silu", {1, 40}, {}},
    {"gelu", {1, 40}, erf_form},
    {"gelu", {1, 40}, tanh_form},
    {"softmax", {1, 70}, {}},
    {"rmsnorm", {1, 70}, eps},
    {"layernorm", {1, 70}, eps},
    {"matmul", {1, 6, 65}, {}},
    {"attention", {1, 1, 33, 8}, open},
    {"attention", {1, 2, 9, 8}, causal},
    {"sigmoid", {1, 40}, {}},
    {"tanh", {1, 40}, {}},
    {"leaky_relu", {1, 40}, {{.real = 0.01}}},
    {"elu", {1, 40}, {{.real = 1.6}}},
    {"l2norm", {1, 70}, eps},
    {"silu_row_sum", {1, 70}, {}},
    {"softmax_backward", {1, 70}, {}},
    {"layernorm_backward", {3, 40}, eps},
    {"embedding", {5, 9, 70}, {}},
    {"sum", {9, 70}, {}},
    {"mean", {9, 70}, {}},
    {"amax", {9, 70}, {}},
    {"logsumexp", {9, 70}, {}},
    {"cumsum", {1, 70}, {}},
    {"gated_delta", {2, 9, 5, 3}, {}},
    {"scatter_add", {50, 3, 9}, {}},
    {"w8a8_matmul", {3, 9, 40}, {}},
    {"quantize_int8", {3, 40}, {}, DType::int8},
};

void PrintTo(const LevelRow& row, std::ostream* out) { *out << row.op; }

class Levels : public testing::TestWithParam<LevelRow> {};
INSTANTIATE_TEST_SUITE_P(Rows, Levels, testing::ValuesIn(level_rows));

double distance(const Refined& a, const Refined& b) {
  return std::fabs((a.high - b.high) + (a.low - b.low));
}

TEST_P(Levels, EachStaysWithinItsErrorBound) {
  const LevelRow& row = GetParam();
  const auto schema = schema_of(row.op);
  size_t checked = 0;
  double worst = 0;
  for (const Family& family : families) {
    for (uint64_t seed = 1; seed <= 2; ++seed) {
      const Problem p =
          family_problem({row.op, f32, row.output, row.axes, row.attributes}, schema, family, seed);
      const Oracle oracle(p.c, p.inputs);
      Call call;
      call.assign(p.c, p.inputs);
      Refinement refinement(call);
      refinement.reset(*find_reference(row.op, ""));
      std::vector<std::pair<size_t, size_t>> elements;  // output, position
      for (size_t k = 0; k < schema->outputs.size(); ++k) {
        const size_t size = oracle.expectation(k).value.size();
        for (size_t i = 0; i < size; ++i) elements.emplace_back(k, i);
      }
      for (const auto& [k, i] : elements) {
        const OutputExpectation& y = oracle.expectation(k);
        if (y.allowed[i] != class_finite) continue;
        const std::optional<Refined> exact = refinement.value(2, k, i);
        if (!exact) continue;
        ++checked;
        const double error = distance({y.value[i], 0}, *exact);
        const double bound = y.oracle_error[i];
        if (std::fabs(y.value[i]) < 1e-100) continue;  // beneath any format by far
        ASSERT_LE(error, bound) << row.op << ' ' << family.name << " element " << i << " value "
                                << y.value[i];
        if (bound > 0) worst = std::max(worst, error / bound);
        const std::optional<Refined> middle = refinement.value(1, k, i);
        if (!middle) continue;
        ASSERT_LE(distance(*middle, *exact), bound * Refinement::error_scale(1) + 1e-290)
            << row.op << ' ' << family.name << " element " << i;
      }
    }
  }
  EXPECT_GT(checked, 100u);
  RecordProperty("worst_share_of_bound", fmt::format("{:.3g}", worst));
}

// What campaigns do with one trial in some thousands.
TEST(Levels, AuditNoticesABrokenErrorBound) {
  const Problem p = problem({"sum", f32, f32, {1, 3}}, {{0.1, 0.2, 0.3}});
  Oracle oracle(p.c, p.inputs);
  Call call;
  call.assign(p.c, p.inputs);
  Refinement refinement(call);
  refinement.reset(*find_reference("sum", ""));
  OutputExpectation y = oracle.expectation(0);
  for (uint64_t choice = 0; choice < 8; ++choice) EXPECT_EQ(audit(y, 0, refinement, choice), "");
  y.value[0] += 2 * y.oracle_error[0] + 0x1p-52;
  EXPECT_NE(audit(y, 0, refinement, 1), "");
  EXPECT_EXIT([&] { WARPFUZZ_CHECK(audit(y, 0, refinement, 1).empty(), "{}", "the bound"); }(),
              testing::ExitedWithCode(broken_exit_code), "warpfuzz is broken");
}

// Cancellation that leaves nothing but rounding: the bound must hold, and the higher levels decide.
TEST(Levels, AdversarialCancellationIsBoundedAndDecided) {
  Generator random(5);
  for (int round = 0; round < 50; ++round) {
    Values values(2);
    for (int i = 0; i < 64; ++i) {
      const double a = normal(random) * std::exp2(30 * uniform(random));
      values[0].insert(values[0].end(), {a, a});
      values[1].insert(values[1].end(), {1 + std::exp2(-23) * (i % 3), -1});
    }
    const Problem p = problem({"matmul", f32, f32, {1, 1, 128}}, values);
    const Oracle oracle(p.c, p.inputs);
    Call call;
    call.assign(p.c, p.inputs);
    Refinement refinement(call);
    refinement.reset(*find_reference("matmul", ""));
    const Refined exact = *refinement.value(2, 0, 0);
    const OutputExpectation& y = oracle.expectation(0);
    ASSERT_LE(distance({y.value[0], 0}, exact), y.oracle_error[0]);
    ASSERT_LE(distance(*refinement.value(1, 0, 0), exact),
              y.oracle_error[0] * Refinement::error_scale(1));
  }
}

}  // namespace
}  // namespace warpfuzz
