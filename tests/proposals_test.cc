#include "fuzzers/proposals.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "tests/schema_fixture.h"

namespace warpfuzz {
namespace {

constexpr std::array<uint8_t, 4> common = {1, 0, 0, 0};
constexpr std::array<uint8_t, 4> rare = {1, 0, 1, 0};
constexpr std::array<uint8_t, 4> rarer = {1, 0, 1, 255};

// Recognised by its axes.
Case case_of(int64_t m) {
  Case c;
  c.schema = find_schema("relu");
  c.axes = {m, 3};
  c.size_class = 2;
  c.inputs.resize(1);
  c.outputs.resize(1);
  return c;
}

TEST(Frontier, IsEmptyWhereEveryRunGetsEverywhere) {
  Frontier frontier;
  Random random(1);
  EXPECT_EQ(frontier.pick_rare(random), nullptr);
  for (int i = 0; i < 1000; ++i) frontier.record(case_of(1), rare);
  EXPECT_EQ(frontier.pick_rare(random), nullptr);
}

TEST(Frontier, KeepsNothingOfRunsWithoutCounters) {
  Frontier frontier;
  Random random(1);
  for (int i = 0; i < 1000; ++i) frontier.record(case_of(1), {});
  EXPECT_EQ(frontier.pick_rare(random), nullptr);
}

TEST(Frontier, PrefersTheRarest) {
  Frontier frontier;
  Random random(1);
  for (int i = 0; i < 4000; ++i) {
    frontier.record(case_of(1), common);
    if (i % 200 == 0) frontier.record(case_of(2), rare);
  }
  frontier.record(case_of(3), rarer);
  int picks[4] = {};
  for (int i = 0; i < 1000; ++i) {
    const Case* c = frontier.pick_rare(random);
    ASSERT_NE(c, nullptr);
    ++picks[c->axes[0]];
  }
  EXPECT_EQ(picks[1], 0);
  EXPECT_GT(picks[2], 20);  // one counter with 21 hits, one with one
  EXPECT_GT(picks[3], 10 * picks[2]);
}

// A counter's example is any of those that set it, not the first or the last.
TEST(Frontier, ExamplesAreAllThatGotThere) {
  Frontier frontier;
  Random random(1);
  std::vector<uint8_t> counters(64);
  for (int i = 0; i < 10000; ++i) frontier.record(case_of(0), counters);
  counters.assign(64, 1);
  for (int64_t m = 1; m <= 100; ++m) frontier.record(case_of(m), counters);
  std::set<int64_t> examples;
  for (int i = 0; i < 1000; ++i) examples.insert(frontier.pick_rare(random)->axes[0]);
  EXPECT_FALSE(examples.contains(0));
  EXPECT_GE(examples.size(), 25u);  // 64 draws from 100: 47 different ones are to be expected
  EXPECT_LE(*examples.begin(), 20);
  EXPECT_GE(*examples.rbegin(), 80);
}

// Half of what is not made of nothing comes from rare code, where there is any.
TEST(Proposals, MutateWhatReachedRareCode) {
  const int64_t base = 1009, frontier = 2003;  // nothing else gives these extents
  Proposals proposals(find_schema("relu"), {.max_tier = Tier::unusual, .max_size_class = 2}, {});
  Random random(1);
  const auto count = [&] {
    std::array<int, 2> kept = {};
    for (int i = 0; i < 2000; ++i) {
      const Case c = proposals.variant(case_of(base), random);
      kept[0] += c.axes[0] == base;
      kept[1] += c.axes[0] == frontier;
    }
    return kept;
  };
  const std::array<int, 2> before = count();
  for (int i = 0; i < 1000; ++i) proposals.record(case_of(1), common);
  proposals.record(case_of(frontier), rare);
  const std::array<int, 2> after = count();
  EXPECT_GT(before[0], 500);
  EXPECT_EQ(before[1], 0);
  EXPECT_GT(after[0], before[0] / 3);
  EXPECT_GT(after[1], before[0] / 3);
}

}  // namespace
}  // namespace warpfuzz
