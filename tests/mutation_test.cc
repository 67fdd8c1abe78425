#include "schemas/mutation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/schema_fixture.h"

namespace warpfuzz {
namespace {

constexpr CaseLimits limit_rows[] = {
    {Tier::everyday, 0}, {Tier::everyday, 3}, {Tier::unusual, 2},
    {Tier::unusual, 3},  {Tier::exotic, 1},   {Tier::exotic, 3},
};

void expect_legal(const Case& c, const CaseLimits& limits) {
  ASSERT_EQ(illegality(c), "") << describe(c);
  ASSERT_LE(static_cast<int>(tier(c)), static_cast<int>(limits.max_tier)) << describe(c);
  ASSERT_LE(c.size_class, limits.max_size_class);
  ASSERT_TRUE(decode(c.schema, encode(c), limits) == c) << describe(c);
}

TEST(Mutation, EverythingStaysLegal) {
  for (const auto& schema : schemas()) {
    for (const CaseLimits& limits : limit_rows) {
      Random random(7);
      Case a = random_case(schema, random, limits);
      Case b = random_case(schema, random, limits);
      for (int i = 0; i < test_effort(2'000); ++i) {
        mutate(a, random, limits);
        expect_legal(a, limits);
        const Case child = crossover(a, b, random, limits);
        expect_legal(child, limits);
        b = random_case(schema, random, limits);
        expect_legal(b, limits);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Mutation, SameSeedSameCase) {
  const auto schema = find_schema("attention");
  Random first(11), second(11);
  for (int i = 0; i < 200; ++i) {
    Case a = random_case(schema, first, {});
    Case b = random_case(schema, second, {});
    mutate(a, first, {});
    mutate(b, second, {});
    ASSERT_TRUE(a == b);
  }
}

// Every row of the table changes some case, and mutation alone reaches every law, layout and dtype.
TEST(Mutation, EveryRowHasAnEffect) {
  const CaseLimits limits{Tier::exotic, 3};
  for (const Mutation& row : mutations()) {
    Random random(13);
    int effects = 0;
    for (int i = 0; i < 2'000; ++i) {
      const Case before = random_case(find_schema("layernorm"), random, limits);
      Case after = before;
      size_t favoured = SIZE_MAX;
      if (!row.apply(after, random, favoured)) continue;
      legalize(after, limits, favoured);
      effects += !(after == before);
    }
    EXPECT_GT(effects, 20) << row.name;
  }
}

TEST(Mutation, ReachesTheWholeVocabulary) {
  Random random(17);
  const CaseLimits limits{Tier::exotic, 3};
  for (const auto& schema : schemas()) {
    std::set<size_t> dtypes;
    std::vector<std::set<ValueLaw>> laws(schema->inputs.size());
    std::vector<std::set<Layout>> layouts(schema->inputs.size());
    std::set<int64_t> extents;
    bool long_axis = false;
    bool empty_axis = false;
    Case c = decode(schema, {}, limits);
    for (int i = 0; i < 60'000; ++i) {
      mutate(c, random, limits);
      dtypes.insert(c.dtype_combination);
      for (size_t k = 0; k < c.inputs.size(); ++k) {
        laws[k].insert(c.inputs[k].law);
        layouts[k].insert(c.inputs[k].layout);
      }
      for (int64_t extent : c.axes) {
        long_axis |= extent > 65536;
        empty_axis |= extent == 0;
        extents.insert(extent);
      }
    }
    EXPECT_EQ(dtypes.size(), schema->dtype_combinations.size()) << schema->name;
    for (size_t k = 0; k < laws.size(); ++k) {
      EXPECT_EQ(laws[k].size(), schema->inputs[k].laws.size()) << schema->inputs[k].name;
      EXPECT_EQ(layouts[k].size(), schema->inputs[k].layouts.size()) << schema->inputs[k].name;
    }
    for (int64_t extent : {1, 31, 33, 127, 129, 257, 1000}) {
      EXPECT_TRUE(extents.contains(extent)) << schema->name << " " << extent;
    }
    EXPECT_TRUE(long_axis) << schema->name;
    EXPECT_TRUE(empty_axis) << schema->name;
  }
}

TEST(Mutation, AThirdOfRandomCasesIsExact) {
  Random random(19);
  int lattice = 0;
  for (int i = 0; i < 3'000; ++i) {
    const Case c = random_case(find_schema("matmul"), random, {});
    lattice += c.inputs[0].law == ValueLaw::lattice && c.inputs[1].law == ValueLaw::lattice;
  }
  EXPECT_GT(lattice, 950);
  EXPECT_LT(lattice, 1'200);
}

// Fresh cases and mutated ones meet a constant of the kernel, its neighbours and its multiples.
TEST(Mutation, TriesTheConstantsOfTheKernel) {
  const auto schema = find_schema("softmax");
  const std::vector<int64_t> constants = {281};
  Random random(5);
  std::set<int64_t> fresh, mutated;
  for (int i = 0; i < 2000; ++i) {
    Case c = random_case(schema, random, {.max_size_class = 1}, constants);
    fresh.insert(c.axes.begin(), c.axes.end());
    mutate(c, random, {.max_size_class = 1}, constants);
    mutated.insert(c.axes.begin(), c.axes.end());
  }
  for (const int64_t extent : {280, 281, 282, 562}) {
    EXPECT_TRUE(fresh.contains(extent)) << extent;
    EXPECT_TRUE(mutated.contains(extent)) << extent;
  }
}

TEST(Mutation, CrossoverTakesFromBoth) {
  const auto schema = find_schema("rmsnorm");
  Case a = decode(schema, {}, {});
  Case b = a;
  a.axes = {2, 3};
  b.axes = {5, 7};
  b.inputs[0].law = ValueLaw::ramp;
  std::set<std::vector<int64_t>> axes;
  std::set<ValueLaw> laws;
  Random random(23);
  for (int i = 0; i < 200; ++i) {
    const Case child = crossover(a, b, random, {});
    axes.insert(child.axes);
    laws.insert(child.inputs[0].law);
  }
  EXPECT_EQ(axes, (std::set<std::vector<int64_t>>{{2, 3}, {2, 7}, {5, 3}, {5, 7}}));
  EXPECT_EQ(laws.size(), 2u);
}

TEST(Simplification, EveryStepDescends) {
  Random random(29);
  const CaseLimits limits{Tier::exotic, 3};
  for (const auto& schema : schemas()) {
    for (int i = 0; i < test_effort(60); ++i) {
      const Case c = random_case(schema, random, limits);
      std::set<std::vector<uint8_t>> seen;
      for (const Case& simpler : simplifications(c)) {
        ASSERT_EQ(illegality(simpler), "") << describe(simpler);
        ASSERT_LT(complexity(simpler), complexity(c)) << describe(c) << "\n" << describe(simpler);
        ASSERT_LE(static_cast<int>(tier(simpler)), static_cast<int>(tier(c))) << describe(simpler);
        ASSERT_EQ(simpler.dtype_combination, c.dtype_combination);
        ASSERT_TRUE(seen.insert(encode(simpler)).second) << describe(simpler);
      }
    }
  }
}

struct Minimum {
  Case c;
  int trials = 0;
};

// What a minimiser does: take the first simpler case that still fails.
Minimum minimise(Case c, const std::function<bool(const Case&)>& fails) {
  Minimum result{std::move(c), 0};
  for (bool progress = true; progress;) {
    progress = false;
    for (Case& simpler : simplifications(result.c)) {
      ++result.trials;
      if (!fails(simpler)) continue;
      result.c = std::move(simpler);
      progress = true;
      break;
    }
  }
  return result;
}

// Following any chain of steps ends at the plainest case of the schema.
TEST(Simplification, AcceptingEverythingEndsAtThePlainestCase) {
  Random random(31);
  for (const auto& schema : schemas()) {
    for (int i = 0; i < 20; ++i) {
      Case start = random_case(schema, random, {Tier::exotic, 3});
      const size_t dtypes = start.dtype_combination;
      const Minimum end = minimise(std::move(start), [](const Case&) { return true; });
      EXPECT_LT(end.trials, 40);
      Case plainest = decode(schema, {}, {Tier::everyday, 0});
      plainest.axes = schema->smallest_axes;
      plainest.dtype_combination = dtypes;
      for (size_t k = 0; k < plainest.inputs.size(); ++k) {
        plainest.inputs[k].law = end.c.inputs[k].law;
        EXPECT_EQ(end.c.inputs[k].law, ValueLaw::constant);
      }
      EXPECT_EQ(describe(end.c), describe(plainest));
    }
  }
}

// Refusing at random still ends.
TEST(Simplification, AnyChainEnds) {
  Random random(37);
  for (const auto& schema : schemas()) {
    Case c = random_case(schema, random, {Tier::exotic, 3});
    const Minimum end = minimise(std::move(c), [&](const Case&) { return random() % 3 == 0; });
    EXPECT_LT(end.trials, 3'000);
  }
}

TEST(Simplification, FindsThresholdsInFewTrials) {
  Random random(41);
  static const struct {
    int64_t threshold;
    int64_t start;
    int trials;
  } rows[] = {
      {129, 1000, 40},  {33, 1000, 40},    {1, 4097, 15},
      {700, 1000, 120}, {1025, 70000, 60}, {65536, 70000, 90},
  };
  for (const auto& row : rows) {
    Case c = decode(find_schema("softmax"), {}, {});
    c.size_class = 3;
    c.axes = {1, row.start};
    ASSERT_EQ(illegality(c), "");
    c.inputs[0].law = ValueLaw::constant;
    const Minimum end = minimise(c, [&](const Case& k) { return k.axes[1] >= row.threshold; });
    EXPECT_EQ(end.c.axes, (std::vector<int64_t>{1, row.threshold}));
    fmt::print("n={} -> n={}: {} trials\n", row.start, row.threshold, end.trials);
    EXPECT_LE(end.trials, row.trials);
  }
}

// A bug that needs several things at once keeps exactly those.
TEST(Simplification, KeepsWhatTheBugNeeds) {
  Case c = decode(find_schema("matmul"), {}, {Tier::exotic, 3});
  c.size_class = 3;
  c.axes = {24, 17, 200};
  c.inputs[0] = {Layout::transposed, 0, 5, ValueLaw::lattice, 12345, {{77, PokeValue::nan}}};
  c.inputs[1] = {Layout::row_strided, 9, 0, ValueLaw::outliers, 99, {}};
  c.outputs[0].offset = 3;
  c.extra_runs = all_extra_runs;
  c.schedule_seed = 4711;
  ASSERT_EQ(illegality(c), "");
  const Minimum end = minimise(c, [](const Case& k) {
    return k.axes[0] % 8 == 0 && k.axes[2] > 64 && !k.inputs[0].pokes.empty() &&
           k.inputs[1].layout == Layout::row_strided;
  });
  EXPECT_EQ(describe(end.c),
            "matmul float32 m=8 n=1 k=65 a: constant seed 0, contiguous [0]=0 "
            "b: constant seed 0, row_strided padding 1");
  EXPECT_LT(end.trials, 300);
  fmt::print("matmul: {} trials\n", end.trials);
}

}  // namespace
}  // namespace warpfuzz
