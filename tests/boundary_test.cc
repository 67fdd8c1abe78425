#include "seeds/boundary.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "seeds/pairwise.h"
#include "tests/schema_fixture.h"

namespace warpfuzz {
namespace {

// Pairs that are legal with defaults elsewhere and that no row covers.
int uncovered_pairs(const std::vector<size_t>& options, const std::vector<OptionRow>& rows,
                    const std::function<bool(const OptionRow&)>& legal) {
  int count = 0;
  for (size_t f = 0; f < options.size(); ++f) {
    for (size_t g = f + 1; g < options.size(); ++g) {
      for (size_t i = 0; i < options[f]; ++i) {
        for (size_t j = 0; j < options[g]; ++j) {
          OptionRow pair(options.size(), 0);
          pair[f] = i;
          pair[g] = j;
          if (!legal(pair)) continue;
          count += std::none_of(rows.begin(), rows.end(),
                                [&](const OptionRow& row) { return row[f] == i && row[g] == j; });
        }
      }
    }
  }
  return count;
}

TEST(Pairwise, CoversAllPairsWithFewRows) {
  static const struct {
    std::vector<size_t> options;
    size_t most_rows;
  } rows[] = {
      {{3, 3, 3, 3}, 14}, {{10, 10, 2, 2, 2}, 110}, {{20, 20, 7, 21, 4, 4}, 460}, {{1, 5}, 5},
      {{1}, 1},
  };
  const auto any = [](const OptionRow&) { return true; };
  for (const auto& row : rows) {
    const std::vector<OptionRow> result = pairwise(row.options, any, 0);
    EXPECT_EQ(uncovered_pairs(row.options, result, any), 0);
    EXPECT_LE(result.size(), row.most_rows);
  }
}

TEST(Pairwise, HonoursWhatIsLegal) {
  const std::vector<size_t> options = {12, 12, 12, 3};
  // As axes under a work limit.
  const auto legal = [](const OptionRow& row) { return row[0] + row[1] + row[2] <= 14; };
  const std::vector<OptionRow> result = pairwise(options, legal, 0);
  for (const OptionRow& row : result) EXPECT_TRUE(legal(row));
  EXPECT_EQ(uncovered_pairs(options, result, legal), 0);
}

TEST(Pairwise, SmallProductsAreComplete) {
  const std::vector<size_t> options = {3, 4, 2};
  const auto legal = [](const OptionRow& row) { return row[0] + row[1] < 5; };
  EXPECT_EQ(pairwise(options, legal, 24).size(), 22u);
}

TEST(Boundary, CasesAreLegalDistinctAndDeterministic) {
  for (const auto& schema : schemas()) {
    for (const CaseLimits& limits :
         {CaseLimits{Tier::everyday, 1}, CaseLimits{}, CaseLimits{Tier::exotic, 3}}) {
      const std::vector<Case> cases = boundary_cases(schema, limits);
      std::set<std::vector<uint8_t>> seen;
      for (const Case& c : cases) {
        ASSERT_EQ(illegality(c), "") << describe(c);
        ASSERT_LE(static_cast<int>(tier(c)), static_cast<int>(limits.max_tier)) << describe(c);
        ASSERT_TRUE(seen.insert(encode(c)).second) << describe(c);
        ASSERT_TRUE(decode(schema, encode(c), limits) == c);
      }
      EXPECT_GT(cases.size(), 50u);
      EXPECT_LT(cases.size(), 900u);
      EXPECT_TRUE(boundary_cases(schema, limits) == cases);
      int64_t work = 0;
      for (const Case& c : cases) work += c.work();
      fmt::print("{} tier {} class {}: {} cases, work {}\n", schema->name,
                 static_cast<int>(limits.max_tier), limits.max_size_class, cases.size(), work);
    }
  }
}

TEST(Boundary, CoversLawsWithExtents) {
  std::set<std::pair<ValueLaw, int64_t>> pairs;
  std::set<std::pair<size_t, ValueLaw>> dtypes;
  std::set<Layout> layouts;
  for (const Case& c : boundary_cases(find_schema("softmax"), {Tier::exotic, 3})) {
    pairs.emplace(c.inputs[0].law, c.axes[1]);
    dtypes.emplace(c.dtype_combination, c.inputs[0].law);
    layouts.insert(c.inputs[0].layout);
  }
  const auto& laws = find_schema("softmax")->inputs[0].laws;
  for (ValueLaw law : laws) {
    for (int64_t n : {0, 1, 31, 33, 127, 129, 1000, 1025, 65536, 70000}) {
      EXPECT_TRUE(pairs.contains({law, n})) << name(law) << " " << n;
    }
  }
  EXPECT_EQ(dtypes.size(), laws.size() * find_schema("softmax")->dtype_combinations.size());
  EXPECT_EQ(layouts.size(), 4u);
}

}  // namespace
}  // namespace warpfuzz
