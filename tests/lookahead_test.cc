// Cases made ready ahead: handed out in their order, with the values, expectation and verdict of a
// trial that makes them in its turn.
#include "fuzzers/lookahead.h"

#include <gtest/gtest.h>

#include "fuzzers/installation.h"
#include "fuzzers/kernel_under_test.h"
#include "fuzzers/trial.h"
#include "schemas/mutation.h"
#include "seeds/value_law.h"

namespace warpfuzz {
namespace {

class LookaheadTest : public testing::TestWithParam<size_t> {
 protected:
  LookaheadTest() { Crew::set_threads(GetParam()); }
  ~LookaheadTest() override { Crew::set_threads(1); }

  static std::vector<Case> draw(const std::shared_ptr<const Schema>& schema, size_t count) {
    Random random(3);
    std::vector<Case> cases;
    while (cases.size() < count) cases.push_back(random_case(schema, random, {Tier::exotic, 2}));
    return cases;
  }
};
INSTANTIATE_TEST_SUITE_P(Threads, LookaheadTest, testing::Values(1, 2, 5));

TEST_P(LookaheadTest, HandsCasesOutInTheirOrder) {
  const auto schema = Installation::find().schema("softmax");
  const std::vector<Case> cases = draw(schema, 100);
  Lookahead ahead;
  size_t added = 0;
  for (size_t turn = 0; added < cases.size(); ++turn) {
    while (ahead.wants_more() && added < cases.size()) ahead.add(cases[added++]);
    EXPECT_EQ(added, std::min(cases.size(), turn + GetParam()));
    EXPECT_EQ(ahead.next(), cases[turn]);
    Preparation* const prepared = ahead.prepared(cases[turn]);
    ASSERT_EQ(prepared != nullptr, GetParam() > 1);
    if (prepared == nullptr) continue;
    EXPECT_EQ(prepared->inputs, make_inputs(cases[turn]));
    const Oracle alone(cases[turn], prepared->inputs);
    EXPECT_EQ(prepared->oracle.expectation(0).value.size(), alone.expectation(0).value.size());
    EXPECT_EQ(prepared->oracle.expectation(0).tolerance, alone.expectation(0).tolerance);
  }
}

TEST_P(LookaheadTest, KnowsOnlyTheCaseWhoseTurnItIs) {
  const auto schema = Installation::find().schema("softmax");
  const std::vector<Case> cases = draw(schema, 20);
  Lookahead ahead;
  EXPECT_EQ(ahead.prepared(cases[0]), nullptr);
  for (size_t i = 0; ahead.wants_more(); ++i) ahead.add(cases[i]);
  EXPECT_EQ(ahead.prepared(cases[0]), nullptr) << "its turn has not come";
  ahead.next();
  EXPECT_EQ(ahead.prepared(cases[19]), nullptr);
}

// Right and wrong kernels: what a trial says of a case does not depend on who made it ready.
TEST_P(LookaheadTest, TrialsSayTheSame) {
  for (const char* kernel : {"correct/softmax.cu", "faulty/softmax_tail_leak.cu"}) {
    const auto installation = Installation::find();
    const auto schema = installation.schema("softmax");
    const auto source = installation.kernels() / kernel;
    const DeviceChoice device;
    const KernelUnderTest under_test =
        load_kernel(source, build_kernel(installation, source, device), device, *schema);
    Trial ahead_of_time(schema, *under_test.kernel), in_turn(schema, *under_test.kernel);
    Lookahead ahead;
    size_t violations = 0;
    const std::vector<Case> cases = draw(schema, 200);
    size_t added = 0;
    while (added < cases.size()) {
      while (ahead.wants_more() && added < cases.size()) ahead.add(cases[added++]);
      const Case c = ahead.next();
      Preparation* const prepared = ahead.prepared(c);
      const TrialResult a =
          prepared != nullptr ? ahead_of_time.run(*prepared) : ahead_of_time.run(c);
      const TrialResult b = in_turn.run(c);
      EXPECT_EQ(a.outcome, b.outcome) << describe(c);
      EXPECT_EQ(a.gate, b.gate) << describe(c);
      EXPECT_EQ(a.inputs, b.inputs);
      EXPECT_EQ(a.worst_ratio, b.worst_ratio) << describe(c);
      violations += a.outcome == TrialOutcome::violation;
    }
    EXPECT_EQ(violations > 0, std::string(kernel).starts_with("faulty"));
  }
}

}  // namespace
}  // namespace warpfuzz
