// The crew: every element of a loop once, whoever does it; and the values, expectations and
// verdicts that it helps with are those of one thread, bit for bit.
#include "reference/crew.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "schemas/mutation.h"
#include "seeds/value_law.h"
#include "tests/honest_ops.h"
#include "tests/oracle_fixture.h"

namespace warpfuzz {
namespace {

using namespace testing_support;

class CrewTest : public testing::Test {
 protected:
  CrewTest() { Crew::set_threads(4); }
  ~CrewTest() override { Crew::set_threads(1); }
};

TEST_F(CrewTest, DoesEveryElementOfEveryLoopOnce) {
  constexpr size_t counts[] = {0, 1, 7, 8, 9, 1000, 4097};
  for (int round = 0; round < 2000; ++round) {
    for (const size_t count : counts) {
      std::vector<int> times(count);
      Crew::share(count, 8, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) ++times[i];
      });
      ASSERT_EQ(std::count(times.begin(), times.end(), 1), static_cast<int64_t>(count)) << round;
    }
  }
}

TEST_F(CrewTest, ItsThreadsTakePart) {
  const pid_t caller = gettid();
  std::atomic<int> elsewhere = 0;
  for (int round = 0; round < 10'000 && elsewhere == 0; ++round) {
    Crew::share(64, 1, [&](size_t, size_t) {
      elsewhere += gettid() != caller;
      usleep(10);
    });
  }
  EXPECT_GT(elsewhere, 0);
}

TEST_F(CrewTest, WakesAfterALongPause) {
  usleep(200'000);  // its threads sleep by now
  std::atomic<size_t> sum = 0;
  Crew::share(100, 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) sum += i;
  });
  EXPECT_EQ(sum, 4950u);
}

TEST_F(CrewTest, LoopsEndInAForkedChild) {
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<size_t> sum = 0;
    Crew::share(100, 1, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) sum += i;
    });
    _exit(sum == 4950 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

template <class Condition>
void await(const Condition& condition) {
  for (int i = 0; i < 50'000 && !condition(); ++i) usleep(100);
}

TEST_F(CrewTest, DoesEveryTaskOnceWithLoopsBetween) {
  std::atomic<int> times[50] = {};
  std::vector<std::shared_ptr<Crew::Task>> tasks;
  for (int round = 0; round < 200; ++round) {
    tasks.clear();
    for (auto& time : times) {
      time = 0;
      tasks.push_back(Crew::start(
          [&time] { Crew::share(3000, 100, [&](size_t begin, size_t) { time += begin == 0; }); }));
    }
    std::atomic<size_t> sum = 0;
    Crew::share(1000, 10, [&](size_t begin, size_t end) { sum += end - begin; });
    ASSERT_EQ(sum, 1000u);
    for (const auto& time : times) await([&] { return time > 0; });
    for (const auto& task : tasks) ASSERT_FALSE(Crew::withdraw(*task));
    for (const auto& time : times) ASSERT_EQ(time, 1) << round;
    if (round % 50 == 0) usleep(20'000);  // its threads sleep by now
  }
}

TEST_F(CrewTest, DoesTasksThatNobodyWaitsFor) {
  const pid_t caller = gettid();
  std::atomic<pid_t> by = 0;
  const auto task = Crew::start([&] { by = gettid(); });
  await([&] { return by != 0; });
  EXPECT_NE(by, 0);
  EXPECT_NE(by, caller);
  EXPECT_FALSE(Crew::withdraw(*task));
}

// Who takes a task back does it, or not, and nobody else.
TEST_F(CrewTest, TasksAreDoneOrTakenBack) {
  std::atomic<int> done = 0;
  int taken = 0;
  std::vector<std::shared_ptr<Crew::Task>> tasks;
  for (int round = 0; round < 2000; ++round) tasks.push_back(Crew::start([&] { ++done; }));
  for (auto task = tasks.rbegin(); task != tasks.rend(); ++task) taken += Crew::withdraw(**task);
  await([&] { return done + taken == 2000; });
  EXPECT_EQ(done + taken, 2000);
}

TEST(Crew, WithoutThreadsTasksAreNotDone) {
  bool done = false;
  const auto task = Crew::start([&] { done = true; });
  EXPECT_TRUE(Crew::withdraw(*task));
  EXPECT_FALSE(done);
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

class CrewOracle : public testing::TestWithParam<size_t> {
 protected:
  ~CrewOracle() override { Crew::set_threads(1); }
};
INSTANTIATE_TEST_SUITE_P(Ops, CrewOracle, testing::Range(size_t{0}, honest_ops().size()),
                         [](const auto& row) { return std::string(honest_ops()[row.param].op); });

TEST_P(CrewOracle, JudgesAsOneThreadDoes) {
  const HonestOp op = honest_ops()[GetParam()];
  const auto schema = schema_of(op.op);
  Random random(7);
  for (int i = 0; i < 40; ++i) {
    Crew::set_threads(1);
    const Case c = random_case(schema, random, {Tier::exotic, 2});
    const std::vector<Tensor> inputs = make_inputs(c);
    const Oracle alone(c, inputs);
    const Problem p = problem_of(c, inputs);
    const HonestRun run = op.run(p)[0];
    Crew::set_threads(3);
    EXPECT_EQ(make_inputs(c), inputs) << describe(c);
    const Oracle shared(c, inputs);
    for (size_t k = 0; k < schema->outputs.size(); ++k) {
      const OutputExpectation &a = alone.expectation(k), &b = shared.expectation(k);
      EXPECT_TRUE(same_bits(a.value, b.value)) << describe(c);
      EXPECT_TRUE(same_bits(a.oracle_error, b.oracle_error)) << describe(c);
      EXPECT_TRUE(same_bits(a.tolerance, b.tolerance)) << describe(c);
      EXPECT_TRUE(same_bits(a.certain, b.certain)) << describe(c);
      EXPECT_EQ(a.allowed, b.allowed) << describe(c);
      // Right, and wrong in some places.
      Floats y = run.output(k);
      for (const bool spoiled : {false, true}) {
        if (spoiled) {
          for (size_t j = 5; j < y.size(); j += 700) y[j] = y[j] * 1.5f + 1;
        }
        const Tensor observed = p.store(y, k);
        Crew::set_threads(1);
        const Comparison one = alone.compare(k, observed);
        Crew::set_threads(3);
        const Comparison many = shared.compare(k, observed);
        EXPECT_EQ(one.offending, many.offending) << describe(c);
        EXPECT_EQ(one.worst_ratio, many.worst_ratio) << describe(c);
        EXPECT_EQ(one.worst_element, many.worst_element) << describe(c);
        EXPECT_EQ(one.worst_share, many.worst_share) << describe(c);
        EXPECT_EQ(one.undecided, many.undecided) << describe(c);
      }
    }
  }
}

}  // namespace
}  // namespace warpfuzz
