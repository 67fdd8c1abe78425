// Cases made ready ahead: handed out in their order, with the values, expectation and verdict of a
// trial that makes them in its turn; and run ahead, each once, in their order.
#include "fuzzers/lookahead.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>

#include "fuzzers/call_runner.h"
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

// Refuses every call, and says which it was.
class RefusingKernel final : public Kernel {
 public:
  std::string preconditions() const override { return ""; }
  size_t workspace_bytes(const Case&) override { return 0; }
  bool serves_any_thread() const override { return true; }
  RunResult run(const Case& c, MemoryImage&, const RunOptions&) override {
    const std::lock_guard lock(mutex);
    RunResult result;
    result.status = RunStatus::unsupported;
    result.message = describe(c);
    calls.push_back(result.message);
    return result;
  }
  void resolve_positions(std::vector<Fault>&) const override {}

  std::mutex mutex;
  std::vector<std::string> calls;
};

TEST_P(LookaheadTest, HandsCasesOutInTheirOrder) {
  const auto schema = Installation::find().schema("softmax");
  const std::vector<Case> cases = draw(schema, 100);
  RefusingKernel kernel;
  Trial trial(schema, kernel);
  Lookahead ahead;
  size_t added = 0;
  for (size_t turn = 0; turn < cases.size(); ++turn) {
    while (ahead.wants_more() && added < cases.size()) ahead.add(cases[added++]);
    EXPECT_EQ(added, std::min(cases.size(), turn + 2 * GetParam() - 1));
    EXPECT_EQ(ahead.next(), cases[turn]);
    EXPECT_EQ(ahead.judge(trial, cases[turn]).inputs, make_inputs(cases[turn]));
  }
}

TEST_P(LookaheadTest, RunsEachCaseOnceInItsOrder) {
  const auto schema = Installation::find().schema("softmax");
  const std::vector<Case> cases = draw(schema, 500);
  RefusingKernel kernel;
  Trial trial(schema, kernel);
  CallRunner runner(kernel, std::chrono::seconds(1));
  std::atomic<size_t> ahead_of_turn = 0;
  Lookahead ahead([&](Preparation& p) {
    p.primary = runner.run(p.c, p.inputs, {});
    ++ahead_of_turn;
  });
  size_t added = 0;
  for (size_t turn = 0; turn < cases.size(); ++turn) {
    while (ahead.wants_more() && added < cases.size()) ahead.add(cases[added++]);
    const Case c = ahead.next();
    const TrialResult result = ahead.judge(trial, c);
    EXPECT_EQ(result.primary.run.message, describe(c));
    EXPECT_EQ(result.outcome, TrialOutcome::violation);
    EXPECT_GT(result.inputs.size(), 0u);
  }
  EXPECT_EQ(ahead_of_turn, GetParam() > 1 ? cases.size() : 0);
  ASSERT_EQ(kernel.calls.size(), cases.size());
  for (size_t i = 0; i < cases.size(); ++i) EXPECT_EQ(kernel.calls[i], describe(cases[i]));
}

TEST_P(LookaheadTest, JudgesOtherCasesAndLeavesSomeOut) {
  const auto schema = Installation::find().schema("softmax");
  const std::vector<Case> cases = draw(schema, 200);
  RefusingKernel kernel;
  Trial trial(schema, kernel);
  CallRunner runner(kernel, std::chrono::seconds(1));
  for (int repeat = 0; repeat < 20; ++repeat) {
    Lookahead ahead([&](Preparation& p) { p.primary = runner.run(p.c, p.inputs, {}); });
    size_t added = 0;
    for (size_t turn = 0; turn < 30; ++turn) {
      while (ahead.wants_more()) ahead.add(cases[added++]);
      const Case c = ahead.next();
      const Case& judged = turn % 3 == 0 ? cases[199 - turn] : c;
      if (turn % 3 == 2) continue;
      EXPECT_EQ(ahead.judge(trial, judged).primary.run.message, describe(judged));
    }
  }
}

TEST_P(LookaheadTest, WhatIsThrownAheadIsThrownInItsTurn) {
  if (GetParam() == 1) GTEST_SKIP() << "nothing is run ahead";
  const auto schema = Installation::find().schema("softmax");
  const std::vector<Case> cases = draw(schema, 40);
  RefusingKernel kernel;
  Trial trial(schema, kernel);
  Lookahead ahead([&](Preparation& p) {
    if (p.c == cases[17]) throw std::runtime_error("no luck");
  });
  size_t added = 0;
  for (size_t turn = 0; turn < cases.size(); ++turn) {
    while (ahead.wants_more() && added < cases.size()) ahead.add(cases[added++]);
    const Case c = ahead.next();
    if (turn == 17) {
      EXPECT_THROW(ahead.judge(trial, c), std::runtime_error);
    } else {
      EXPECT_EQ(ahead.judge(trial, c).primary.run.message, describe(c));
    }
  }
}

// Right and wrong kernels: what a trial says of a case does not depend on who made it ready.
TEST_P(LookaheadTest, TrialsSayTheSame) {
  for (const char* kernel : {"correct/softmax.cu", "faulty/softmax_tail_leak.cu"}) {
    const auto installation = Installation::find();
    const auto schema = installation.schema("softmax");
    const auto source = installation.kernels() / kernel;
    const DeviceChoice device;
    constexpr Instrumentation plain = {.coverage = false, .address = false, .undefined = false};
    const KernelUnderTest under_test =
        load_kernel(source, build_kernel(installation, source, device, plain), device, *schema);
    Trial ahead_of_time(schema, *under_test.kernel), in_turn(schema, *under_test.kernel);
    Lookahead ahead;
    size_t violations = 0;
    const std::vector<Case> cases = draw(schema, 200);
    size_t added = 0;
    while (added < cases.size()) {
      while (ahead.wants_more() && added < cases.size()) ahead.add(cases[added++]);
      const Case c = ahead.next();
      const TrialResult a = ahead.judge(ahead_of_time, c);
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
