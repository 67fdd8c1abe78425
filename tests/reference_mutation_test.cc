// Mutation testing of the references: a reference in which one primitive errs by an eighth, or
// whose outputs are one unit in the last place too large, calls some honest kernel wrong. What no
// kernel notices would be a part of a definition that nothing holds in place.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/honest_ops.h"
#include "tests/mutable_reference.h"
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
};

bool notices(const HonestOp& op, const Problem& p) {
  const Oracle oracle(p.c, p.inputs);
  for (const HonestRun& run : op.run(p)) {
    for (size_t k = 0; k < p.c.schema->outputs.size(); ++k) {
      const Comparison verdict = oracle.compare(k, p.store(run.output(k), k));
      for (const Offence& offence : verdict.offences) {
        if (offence.strength != OffenceStrength::marginal) return true;
      }
    }
  }
  return false;
}

// Whether some honest kernel is called wrong on some call.
bool some_kernel_notices(const HonestOp& op) {
  const std::shared_ptr<const Schema> schema = schema_of(op.op);
  for (const Types& types : type_pairs) {
    for (const Family& family : families) {
      for (const std::vector<AttributeValue>& attributes : op.attributes) {
        for (const std::vector<int64_t>& axes : op.axes) {
          if (axes.back() > 500) continue;  // long rows show nothing more
          const ProblemSpec spec{op.op, types.input, op.output_for(types.input, types.output), axes,
                                 attributes};
          if (notices(op, family_problem(spec, schema, family, 1))) return true;
        }
      }
    }
  }
  return false;
}

class ReferenceMutation : public testing::TestWithParam<size_t> {
 protected:
  ReferenceMutation() { mutation = {}; }
  ~ReferenceMutation() override { mutation = {}; }
};
INSTANTIATE_TEST_SUITE_P(Ops, ReferenceMutation, testing::Range(size_t{0}, honest_ops().size()),
                         [](const auto& row) { return std::string(honest_ops()[row.param].op); });

TEST_P(ReferenceMutation, OfTheLastPlaceIsNoticed) {
  mutation.last_place = true;
  EXPECT_TRUE(some_kernel_notices(honest_ops()[GetParam()]));
}

TEST_P(ReferenceMutation, OfEachPrimitiveIsNoticed) {
  const HonestOp op = honest_ops()[GetParam()];
  EXPECT_FALSE(some_kernel_notices(op)) << "the reference as it is";
  ASSERT_GT(mutation.sites, 0u);
  for (size_t site = 0; site < mutation.sites; ++site) {
    mutation.site = site;
    EXPECT_TRUE(some_kernel_notices(op)) << "result " << site << ", of " << mutation.primitive;
  }
  RecordProperty("mutants", fmt::format("{}", mutation.sites));
}

}  // namespace
}  // namespace warpfuzz
