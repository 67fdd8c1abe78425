// Verdicts of the oracle: honest kernels are never called wrong, on any family of values, and the
// work of deciding stays at level 0.
#include "reference/oracle.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

#include "schemas/mutation.h"
#include "seeds/value_law.h"
#include "tests/honest_ops.h"
#include "tests/oracle_fixture.h"

namespace warpfuzz {
namespace {

using namespace testing_support;

struct Types {
  DType input;
  DType output;
};
constexpr Types type_pairs[] = {
    {DType::float32, DType::float32},
    {DType::float16, DType::float16},
    {DType::bfloat16, DType::bfloat16},
    {DType::bfloat16, DType::float32},
};

struct Tally {
  size_t elements = 0;
  size_t escalated = 0;
  size_t undecided = 0;
  size_t marginal = 0;
  size_t wrong = 0;
  double worst = 0;
  std::string worst_at;
  std::string first_wrong;

  void add(const Comparison& verdict, const Tensor& y, const std::string& where) {
    elements += static_cast<size_t>(y.size());
    escalated += verdict.escalated;
    undecided += verdict.undecided;
    for (const Offence& o : verdict.offences) {
      if (o.strength == OffenceStrength::marginal) {
        ++marginal;
        continue;
      }
      ++wrong;
      if (first_wrong.empty()) {
        first_wrong = fmt::format(
            "{} element {}: observed {:.9g}, expected {:.9g} in [{:.9g}, {:.9g}], "
            "ratio {:.4g}, strength {}, kind {}, allowed {}",
            where, o.element, o.observed, o.expected, o.low, o.high, o.ratio,
            static_cast<int>(o.strength), static_cast<int>(o.kind), o.allowed);
      }
    }
    if (verdict.worst_ratio > worst) {
      worst = verdict.worst_ratio;
      worst_at = where;
    }
  }
};

// Without the second look, on values whose order carries no information.
constexpr std::string_view exchangeable[] = {
    "normal", "normal times 8", "uniform", "outliers", "very negative", "tiny", "log uniform"};

size_t beyond_first_look(const OutputExpectation& y, const Tensor& observed) {
  const std::vector<double> values = decode_tensor(observed);
  size_t beyond = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (y.allowed[i] != class_finite) continue;
    const double reach = std::fabs(y.value[i]) + y.tolerance[i];
    beyond += std::fabs(values[i] - y.value[i]) >
              y.tolerance[i] + 0.5 * unit_in_last_place(y.dtype, reach) + y.oracle_error[i];
  }
  return beyond;
}

class HonestKernels : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Ops, HonestKernels, testing::Range(size_t{0}, honest_ops().size()),
                         [](const auto& row) { return std::string(honest_ops()[row.param].op); });

TEST_P(HonestKernels, AreNeverCalledWrong) {
  const HonestOp op = honest_ops()[GetParam()];
  const std::shared_ptr<const Schema> schema = schema_of(op.op);
  const bool report = std::getenv("WARPFUZZ_TEST_REPORT") != nullptr;
  const char* rounds_text = std::getenv("WARPFUZZ_TEST_ROUNDS");
  const uint64_t rounds = rounds_text != nullptr ? std::strtoull(rounds_text, nullptr, 10) : 2;
  for (const Types& types : type_pairs) {
    Tally total;
    for (const Family& family : families) {
      Tally tally;
      for (const std::vector<int64_t>& axes : op.axes) {
        for (const std::vector<AttributeValue>& attributes : op.attributes) {
          for (uint64_t round = 0; round < rounds; ++round) {
            const ProblemSpec spec{
                op.op, types.input, op.output_for(types.input, types.output),
                axes,  attributes,  round % 2 == 0 ? ValueLaw::normal : ValueLaw::lattice};
            const Problem p = family_problem(spec, schema, family, 1 + round / 2);
            const Oracle oracle(p.c, p.inputs);
            for (const HonestRun& run : op.run(p)) {
              const std::string where =
                  fmt::format("{} {} {} axes {} attribute {} round {}: {}", op.op,
                              name(types.input), family.name, fmt::join(axes, ","),
                              attributes.empty()
                                  ? 0.0
                                  : attributes[0].real + static_cast<double>(attributes[0].integer),
                              round, run.name);
              const bool random_order = std::find(std::begin(exchangeable), std::end(exchangeable),
                                                  family.name) != std::end(exchangeable);
              for (size_t k = 0; k < schema->outputs.size(); ++k) {
                const Tensor y = p.store(run.output(k), k);
                const Comparison verdict = oracle.compare(k, y);
                const std::string output = where + ", " + schema->outputs[k].name;
                tally.add(verdict, y, output);
                total.add(verdict, y, output);
                if (random_order && types.input == DType::float32) {
                  EXPECT_EQ(beyond_first_look(oracle.expectation(k), y), 0u) << output;
                }
              }
            }
          }
        }
      }
      if (report) {
        fmt::print(
            "{:10} {:9}->{:9} {:17} worst {:6.3f} marginal {:5} undecided {:6} escalated {:5} of "
            "{} {}\n",
            op.op, name(types.input), name(types.output), family.name, tally.worst, tally.marginal,
            tally.undecided, tally.escalated, tally.elements,
            tally.worst > 1 ? tally.worst_at : "");
      }
      EXPECT_EQ(tally.wrong, 0u) << tally.first_wrong;
    }
    EXPECT_LT(static_cast<double>(total.escalated), 1e-3 * static_cast<double>(total.elements));
    RecordProperty(fmt::format("{}_worst_ratio", name(types.input)),
                   fmt::format("{}", total.worst));
  }
}

// Cases as a campaign makes them: every law, pokes, specials, odd shapes and types.
TEST_P(HonestKernels, AreNeverCalledWrongOnRandomCases) {
  const HonestOp op = honest_ops()[GetParam()];
  const std::shared_ptr<const Schema> schema = schema_of(op.op);
  const char* cases_text = std::getenv("WARPFUZZ_TEST_CASES");
  const int cases = cases_text != nullptr ? std::atoi(cases_text) : 300;
  Random random(1);
  Tally tally;
  size_t exact = 0;
  for (int i = 0; i < cases; ++i) {
    const Case c = random_case(schema, random, {Tier::exotic, 2});
    const Problem p = problem_of(c, make_inputs(c));
    const Oracle oracle(p.c, p.inputs);
    exact += oracle.expectation(0).exact;
    for (const HonestRun& run : op.run(p)) {
      for (size_t k = 0; k < schema->outputs.size(); ++k) {
        const std::string where =
            fmt::format("case {} ({}): {}, {}", i, describe(c), run.name, schema->outputs[k].name);
        const Tensor y = p.store(run.output(k), k);
        const Comparison verdict = oracle.compare(k, y);
        if (std::getenv("WARPFUZZ_TEST_REPORT") != nullptr &&
            verdict.escalated + verdict.undecided > 0) {
          fmt::print("{}: escalated {}, undecided {} of {}\n", where, verdict.escalated,
                     verdict.undecided, y.size());
        }
        tally.add(verdict, y, where);
      }
    }
  }
  EXPECT_EQ(tally.wrong, 0u) << tally.first_wrong;
  EXPECT_EQ(tally.marginal, 0u);
  EXPECT_LE(static_cast<double>(tally.escalated), 1e-3 * static_cast<double>(tally.elements));
  EXPECT_LE(static_cast<double>(tally.undecided), 0.2 * static_cast<double>(tally.elements));
  RecordProperty("undecided", fmt::format("{} of {}", tally.undecided, tally.elements));
  RecordProperty("exact_cases", fmt::format("{} of {}", exact, cases));
  RecordProperty("worst_ratio", fmt::format("{}", tally.worst));
}

// --- deciding

// Over all outputs, one after the other.
std::vector<size_t> offending_at(const Problem& p, const std::vector<Tensor>& observed,
                                 int minimum_level, Comparison* verdict) {
  OracleOptions options;
  options.minimum_level = minimum_level;
  const Oracle oracle(p.c, p.inputs, options);
  std::vector<size_t> offending;
  for (size_t k = 0; k < observed.size(); ++k) {
    const Comparison one = oracle.compare(k, observed[k]);
    offending.push_back(one.offending.size());
    offending.insert(offending.end(), one.offending.begin(), one.offending.end());
    verdict->undecided += one.undecided;
    verdict->escalated += one.escalated;
  }
  return offending;
}

class Deciding : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Ops, Deciding, testing::Range(size_t{0}, honest_ops().size()),
                         [](const auto& row) { return std::string(honest_ops()[row.param].op); });

// Outputs right, slightly wrong and very wrong get the same verdict at every level.
TEST_P(Deciding, HigherLevelsAgree) {
  const HonestOp op = honest_ops()[GetParam()];
  for (const Types& types : type_pairs) {
    for (const Family& family : families) {
      const Problem p =
          family_problem({op.op, types.input, op.output_for(types.input, types.output),
                          op.axes[std::min<size_t>(2, op.axes.size() - 1)], op.attributes[0]},
                         schema_of(op.op), family, 3);
      const HonestRun run = op.run(p)[0];
      testing_support::Generator random(4);
      std::vector<Tensor> observed;
      for (size_t k = 0; k < p.c.schema->outputs.size(); ++k) {
        Floats y = run.output(k);
        y.resize(std::min<size_t>(y.size(), 600), 0);
        for (float& v : y) v *= static_cast<float>(1 + std::exp2(-30 * uniform(random)));
        y.resize(static_cast<size_t>(p.blank(k).size()), 0);
        observed.push_back(p.store(y, k));
      }
      Comparison level0, level1, level2;
      const std::vector<size_t> expected = offending_at(p, observed, 0, &level0);
      EXPECT_EQ(offending_at(p, observed, 1, &level1), expected) << op.op << ' ' << family.name;
      EXPECT_EQ(offending_at(p, observed, 2, &level2), expected) << op.op << ' ' << family.name;
      EXPECT_EQ(level0.undecided, level2.undecided) << op.op << ' ' << family.name;
      EXPECT_GE(level2.escalated, level0.escalated);
    }
  }
}

// With and without the errors of all elements: the same verdict, and the errors are those of it.
TEST_P(Deciding, ErrorsOfAllElementsAreThoseOfTheVerdict) {
  const HonestOp op = honest_ops()[GetParam()];
  for (const Types& types : type_pairs) {
    for (const Family& family : families) {
      const Problem p =
          family_problem({op.op, types.input, op.output_for(types.input, types.output), op.axes[0],
                          op.attributes[0]},
                         schema_of(op.op), family, 5);
      const HonestRun run = op.run(p)[0];
      const Oracle oracle(p.c, p.inputs);
      for (size_t k = 0; k < p.c.schema->outputs.size(); ++k) {
        const Tensor y = p.store(run.output(k), k);
        std::vector<ElementError> errors;
        const Comparison fast = oracle.compare(k, y), slow = oracle.compare(k, y, &errors);
        double ratio = 0, share = 0;
        size_t undecided = 0, wrong = 0;
        for (const ElementError& error : errors) {
          ratio = std::max(ratio, error.ratio);
          share = std::max(share, error.share);
          undecided += error.fate == ElementFate::undecided;
          wrong += error.wrong;
        }
        const std::string where = fmt::format("{} {} output {}", op.op, family.name, k);
        EXPECT_EQ(errors.size(), static_cast<size_t>(y.size())) << where;
        EXPECT_EQ(undecided, fast.undecided) << where;
        EXPECT_EQ(wrong, fast.offending.size()) << where;
        EXPECT_EQ(slow.offending, fast.offending) << where;
        EXPECT_EQ(ratio, slow.worst_ratio) << where;
        EXPECT_EQ(share, slow.worst_share) << where;
        EXPECT_NEAR(fast.worst_ratio, slow.worst_ratio, 1e-6 * slow.worst_ratio) << where;
        EXPECT_NEAR(fast.worst_share, slow.worst_share, 1e-6) << where;
        EXPECT_LE(slow.worst_share, std::max(1.0, slow.worst_ratio)) << where;
      }
    }
  }
}

// What computing used is told from what the output's rounding did.
TEST(Share, OfAHalfOutputIsThatOfTheComputation) {
  const Problem p = family_problem({"matmul", DType::float16, DType::float16, {8, 8, 64}},
                                   schema_of("matmul"), families[0], 1);
  const Oracle oracle(p.c, p.inputs);
  const OutputExpectation& y = oracle.expectation(0);
  for (const double used : {0.0, 0.25, 0.75}) {
    Tensor observed = p.output;
    std::vector<double> values = y.value;
    for (size_t i = 0; i < values.size(); ++i) values[i] += used * y.tolerance[i];
    encode_tensor(values, observed);
    const Comparison verdict = oracle.compare(0, observed);
    EXPECT_GT(verdict.worst_ratio, 0.9) << used;  // the rounding
    EXPECT_LE(verdict.worst_share, used + 1e-6);
  }
  // Half an ulp and the tolerance: as far as it goes.
  Tensor observed = p.output;
  std::vector<double> values = decode_tensor(p.store(Floats(y.value.begin(), y.value.end())));
  for (double& v : values) v += unit_in_last_place(DType::float16, v);
  encode_tensor(values, observed);
  EXPECT_GT(oracle.compare(0, observed).worst_share, 1);
}

// A value that sits on the edge of its tolerance cannot be decided in double.
TEST(Escalation, EdgesAreDecidedAboveLevelZero) {
  const Problem p = family_problem({"softmax", DType::float32, DType::float32, {1, 64}},
                                   schema_of("softmax"), families[0], 1);
  // float64 output: the observed value can be placed anywhere.
  auto schema = std::make_shared<Schema>(*p.c.schema);
  for (DTypeCombination& combination : schema->dtype_combinations) {
    combination.dtypes[schema->outputs[0].dtype_variable] = DType::float64;
    for (const TensorSpec& input : schema->inputs) {
      combination.dtypes[input.dtype_variable] = DType::float32;
    }
  }
  if (schema->outputs[0].dtype_variable == schema->inputs[0].dtype_variable) GTEST_SKIP();
  Case c = p.c;
  c.schema = schema;
  const Oracle oracle(c, p.inputs);
  const OutputExpectation& y = oracle.expectation(0);
  Tensor observed{DType::float64, p.output.shape, {}};
  std::vector<double> edge(y.value.size());
  for (size_t i = 0; i < edge.size(); ++i) {
    edge[i] = y.value[i] + (i % 2 == 0 ? 1 : -1) * (y.tolerance[i] + 0x1p-54 * y.value[i]);
  }
  encode_tensor(edge, observed);
  const Comparison verdict = oracle.compare(0, observed);
  EXPECT_GT(verdict.escalated, edge.size() / 2);
  EXPECT_EQ(verdict.undecided, 0u);
}

// Of an H200, whose tensor cores lost a thousand times more than the size of these products says.
TEST(TensorCores, LoseBitsBesideSubnormalFactors) {
  const std::vector<double> a = {0x1.ap-19, -0x1.3ap-16, -0x1.df8p-15};
  const std::vector<double> b = {-0x1.5dp+14, 0x1.dcp-3, 0x1.5b4p-12};
  const Problem p =
      make_problem({"matmul", DType::float16, DType::float32, {1, 1, 3}}, schema_of("matmul"),
                   [&](size_t input, size_t) { return input == 0 ? a : b; });
  const Oracle oracle(p.c, p.inputs);
  const float exact = static_cast<float>(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
  EXPECT_TRUE(oracle.compare(0, p.store(Floats{-0.0692334473f})).offending.empty());
  EXPECT_FALSE(oracle.compare(0, p.store(Floats{exact + 0x1p-20f})).offending.empty());
}

TEST(Strength, GrowsWithTheError) {
  const Problem p = family_problem({"matmul", DType::float32, DType::float32, {1, 1, 1000}},
                                   schema_of("matmul"), families[0], 1);
  const Oracle oracle(p.c, p.inputs);
  const OutputExpectation& y = oracle.expectation(0);
  const auto strength_of = [&](double error) -> int {
    const float shifted[] = {static_cast<float>(y.value[0] + error)};
    const Comparison verdict = oracle.compare(0, p.store(shifted));
    return verdict.offences.empty() ? -1 : static_cast<int>(verdict.offences[0].strength);
  };
  EXPECT_EQ(strength_of(0.5 * y.tolerance[0]), -1);
  EXPECT_EQ(strength_of(1.01 * y.certain[0]), static_cast<int>(OffenceStrength::certain));
  EXPECT_EQ(strength_of(0.5 * y.certain[0]), static_cast<int>(OffenceStrength::firm));
  int last = -1;
  for (double error = y.tolerance[0]; error < 1.1 * y.certain[0]; error *= 1.02) {
    const int strength = strength_of(error);
    EXPECT_GE(strength, last);
    last = strength;
  }
}

TEST(Offences, DetailsAreBoundedAndTheListIsComplete) {
  const Problem p = family_problem({"relu", DType::float32, DType::float32, {2, 300}},
                                   schema_of("relu"), families[0], 1);
  const Oracle oracle(p.c, p.inputs);
  const Comparison verdict = oracle.compare(0, p.store(Floats(600, 77.0f)));
  EXPECT_EQ(verdict.offending.size(), 600u);
  EXPECT_EQ(verdict.offences.size(), max_offences);
  EXPECT_TRUE(std::is_sorted(verdict.offending.begin(), verdict.offending.end()));
  EXPECT_EQ(verdict.offences[0].observed, 77);
  EXPECT_EQ(verdict.offences[0].low, verdict.offences[0].high);
}

}  // namespace
}  // namespace warpfuzz
