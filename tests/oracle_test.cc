// Verdicts of the oracle: honest kernels are never called wrong, on any family of values, and the
// work of deciding stays at level 0.
#include "reference/oracle.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

#include "tests/honest_kernels.h"
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

  void add(const Comparison& verdict, const Problem& p, const std::string& where) {
    elements += static_cast<size_t>(p.output.size());
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
                op.op, types.input, types.output,
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
              const Comparison verdict = oracle.compare(0, p.store(run.y));
              tally.add(verdict, p, where);
              total.add(verdict, p, where);
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

}  // namespace
}  // namespace warpfuzz
