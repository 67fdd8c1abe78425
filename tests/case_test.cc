#include "schemas/case.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>
#include <map>

#include "schemas/mutation.h"
#include "tests/schema_fixture.h"

namespace warpfuzz {
namespace {

constexpr CaseLimits limit_rows[] = {
    {Tier::everyday, 0}, {Tier::everyday, 3}, {Tier::unusual, 2},
    {Tier::unusual, 3},  {Tier::exotic, 1},   {Tier::exotic, 3},
};

std::vector<uint8_t> random_bytes(Random& random) {
  std::vector<uint8_t> bytes(random() % 90);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() >> 8);
  return bytes;
}

// Everything that must hold of any byte string.
void expect_total_and_canonical(const std::shared_ptr<const Schema>& schema,
                                std::span<const uint8_t> bytes, const CaseLimits& limits) {
  const Case c = decode(schema, bytes, limits);
  ASSERT_EQ(illegality(c), "") << describe(c);
  ASSERT_LE(static_cast<int>(tier(c)), static_cast<int>(limits.max_tier)) << describe(c);
  ASSERT_LE(c.size_class, limits.max_size_class);
  const std::vector<uint8_t> canonical = encode(c);
  ASSERT_LE(canonical.size(), 320u);  // of five inputs with all their pokes
  const Case again = decode(schema, canonical, limits);
  ASSERT_TRUE(again == c) << describe(c) << "\n" << describe(again);
  ASSERT_EQ(encode(again), canonical);
  // Looser limits read the same bytes as the same case.
  ASSERT_TRUE(decode(schema, canonical, {Tier::exotic, 3}) == c) << describe(c);
}

TEST(Case, DecodingIsTotalAndCanonical) {
  Random random(1);
  const int trials = test_effort(25'000);
  for (const auto& schema : schemas()) {
    for (int i = 0; i < trials; ++i) {
      const CaseLimits& limits = limit_rows[static_cast<size_t>(i) % std::size(limit_rows)];
      expect_total_and_canonical(schema, random_bytes(random), limits);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Case, DecodesFewAndManyBytes) {
  for (const auto& schema : schemas()) {
    for (const CaseLimits& limits : limit_rows) {
      expect_total_and_canonical(schema, {}, limits);
      for (unsigned byte = 0; byte < 256; ++byte) {
        const std::vector<uint8_t> bytes(300, static_cast<uint8_t>(byte));
        for (size_t size : {1u, 2u, 5u, 12u, 300u}) {
          expect_total_and_canonical(schema, std::span(bytes).first(size), limits);
        }
      }
    }
  }
}

TEST(Case, AnyVersionIsRead) {
  const auto schema = find_schema("softmax");
  std::vector<uint8_t> bytes = {1, 0, 0, 0, 3, 5};
  const Case c = decode(schema, bytes, {});
  for (unsigned version = 0; version < 256; ++version) {
    bytes[0] = static_cast<uint8_t>(version);
    EXPECT_TRUE(decode(schema, bytes, {}) == c);
  }
}

// Pins the byte form: stored seeds and corpora depend on it.
TEST(Case, BytesArePinned) {
  const auto schema = find_schema("rmsnorm");
  Case c = decode(schema, {}, {});
  c.size_class = 2;
  c.dtype_combination = 1;
  c.axes = {7, 1000};
  c.attributes = {{0, 1e-3}};
  c.inputs[0].law = ValueLaw::lattice;
  c.inputs[0].seed = 300;
  c.inputs[0].layout = Layout::row_strided;
  c.inputs[0].row_padding = 2;
  c.inputs[0].pokes = {{6999, PokeValue::nan}};
  c.outputs[0].offset = 1;
  c.extra_runs = all_extra_runs;
  c.schedule_seed = 9;
  ASSERT_EQ(illegality(c), "");
  const std::vector<uint8_t> expected = {
      1,    205,  1,    31,   9,  // version, size class, dtypes, extra runs, schedule
      7,    0xD3, 0xE8, 2,        // m, n = 0x3E8, eps: the third value
      0x89, 2,    3,    0xAC, 2,  // x: row-strided with one poke, padding, law, seed
      4,    0xD7, 54,             // the poke: nan at 6999
      0,    0,    0,              // weight: plain, normal, seed 0
      0x84, 1,                    // y: offset 1
  };
  EXPECT_EQ(encode(c), expected);
  EXPECT_EQ(
      describe(c),
      "rmsnorm float16 m=7 n=1000 eps=0.001 x: lattice seed 300, row_strided padding 2 "
      "[6999]=nan weight: normal seed 0, contiguous y: contiguous offset 1, other poison, "
      "other schedule 9, one element changed (choice 9), one row alone (choice 9), race check in "
      "schedule 9");
  EXPECT_EQ(tier(c), Tier::exotic);
}

TEST(Case, SaysWhatIsIllegal) {
  const auto schema = find_schema("gelu");
  const Case legal = decode(schema, std::vector<uint8_t>{1, 0, 0, 0, 3, 5}, {});
  ASSERT_EQ(illegality(legal), "");
  static const struct {
    void (*change)(Case&);
    const char* message;
  } rows[] = {
      {[](Case& c) { c.size_class = 4; }, "size class 4"},
      {[](Case& c) { c.dtype_combination = 99; }, "dtype combination 99"},
      {[](Case& c) { c.axes.pop_back(); },
       "axes, attributes or tensors are not those of the schema"},
      {[](Case& c) { c.axes[0] = -1; }, "m: found -1, expected 0 to 1048576"},
      {[](Case& c) { c.axes[1] = 1000; }, "found work 12000, expected at most 1024"},
      {[](Case& c) { c.attributes[0].integer = 2; }, "approximate: found 2, expected 0 to 1"},
      {[](Case& c) { c.attributes[0].real = 2; }, "approximate: found two values, expected one"},
      {[](Case& c) { c.inputs[0].law = ValueLaw::lattice; },
       "x: found law lattice, which the schema lacks"},
      {[](Case& c) { c.inputs[0].pokes.resize(5); }, "x: found 5 pokes, expected at most 4"},
      {[](Case& c) { c.inputs[0].row_padding = 1; }, "x: found row padding 1, expected at most 0"},
      {[](Case& c) { c.outputs[0].layout = Layout::broadcast; },
       "y: found layout broadcast, which the schema lacks"},
      {[](Case& c) { c.outputs[0].offset = 128; }, "y: found offset 128, expected 0 to 127"},
      {[](Case& c) { c.outputs[0].seed = 1; }, "y: found values for an output, expected none"},
      {[](Case& c) { c.extra_runs = 32; }, "extra runs 32"},
      {[](Case& c) { c.schedule_seed = 1; }, "a schedule seed without a run that has a choice"},
  };
  for (const auto& row : rows) {
    Case c = legal;
    row.change(c);
    EXPECT_EQ(illegality(c), row.message);
  }
}

TEST(Case, TiersFollowTheSchema) {
  const auto schema = find_schema("layernorm");
  Case everyday = decode(schema, std::vector<uint8_t>{1, 0, 0, 0, 3, 5}, {});
  ASSERT_EQ(tier(everyday), Tier::everyday);
  everyday.size_class = 3;
  static const struct {
    void (*change)(Case&);
    Tier tier;
  } rows[] = {
      {[](Case& c) { c.dtype_combination = 3; }, Tier::unusual},
      {[](Case& c) { c.attributes[0].real = 1e-8; }, Tier::unusual},
      {[](Case& c) { c.attributes[0].real = 1e-6; }, Tier::everyday},
      {[](Case& c) { c.axes = {1, 4096}; }, Tier::everyday},
      {[](Case& c) { c.axes = {1, 4097}; }, Tier::unusual},
      {[](Case& c) { c.axes = {70000, 1}; }, Tier::unusual},
      {[](Case& c) { c.axes = {0, 5}; }, Tier::exotic},
      {[](Case& c) { c.inputs[0].layout = Layout::transposed; }, Tier::exotic},
      {[](Case& c) { c.outputs[0].offset = 1; }, Tier::exotic},
      {[](Case& c) { c.inputs[0].law = ValueLaw::non_finite_row; }, Tier::everyday},
  };
  for (const auto& row : rows) {
    Case c = everyday;
    row.change(c);
    EXPECT_EQ(illegality(c), "");
    EXPECT_EQ(tier(c), row.tier) << describe(c);
  }
}

TEST(Case, LongAxesAreReachable) {
  for (const auto& schema : schemas()) {
    for (size_t axis = 0; axis < schema->axes.size(); ++axis) {
      if (schema->axes[axis].maximum < 70000) continue;
      Case c = decode(schema, {}, {Tier::exotic, 3});
      c.size_class = 3;
      for (int64_t& extent : c.axes) extent = 1;
      c.axes[axis] = 70000;
      EXPECT_EQ(illegality(c), "");
      // Under all limits but the everyday ones it comes back.
      EXPECT_TRUE(decode(schema, encode(c), {Tier::unusual, 3}) == c);
    }
  }
}

// The favoured axis keeps its value when the work is too much; the others are cut to what is left.
TEST(Case, TooMuchWorkShortensTheOtherAxes) {
  Case c = decode(find_schema("matmul"), {}, {Tier::exotic, 3});
  c.axes = {100, 100, 257};
  legalize(c, {Tier::unusual, 3}, 2);
  EXPECT_EQ(c.axes, (std::vector<int64_t>{1, 1, 257}));
  c.size_class = 2;
  c.axes = {100, 100, 257};
  legalize(c, {Tier::unusual, 3}, 2);
  EXPECT_EQ(c.axes, (std::vector<int64_t>{10, 12, 257}));
  c.axes = {100, 100, 257};
  legalize(c, {Tier::unusual, 3}, 0);
  EXPECT_EQ(c.axes[0], 100);
}

// Derived axes follow, constraints are repaired, and an impossible wish falls back to a legal call.
TEST(Case, DerivedAxesAndConstraintsHold) {
  const auto schema = parse_schema(R"({
    "name": "grouped", "op_type": "test",
    "axes": {"g": {"type": "var"}, "r": {"type": "var"}, "h": {"type": "var"},
             "c": {"type": "const", "value": 4}},
    "inputs": {"x": {"shape": ["h", "c"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["g"], "dtype": "float32"}},
    "constraints": ["h % 6 == 0", "g != r", "mode == 0 || g > 2"],
    "fuzz": {
      "dtypes": {"T": ["float32"]},
      "axes": {"g": {"role": "batch", "range": [0, 100]}, "r": {"role": "free", "range": [1, 64]},
               "h": {"role": "free", "derived": "g * r"}, "c": {"role": "free"}},
      "tensors": {"x": {"dtype": "T", "laws": ["normal"]}, "y": {"dtype": "T"}},
      "attributes": {"mode": {"kind": "integer", "range": [-3, 300], "usual": [0]}},
      "work": "h * c", "contract": {"accumulator": "float32"}}})",
                                   "grouped.json");
  Random random(3);
  for (int i = 0; i < test_effort(20'000); ++i) {
    expect_total_and_canonical(schema, random_bytes(random),
                               limit_rows[static_cast<size_t>(i) % std::size(limit_rows)]);
    if (HasFatalFailure()) return;
    Case c = random_case(schema, random, {Tier::exotic, 3});
    mutate(c, random, {Tier::exotic, 3});
    ASSERT_EQ(illegality(c), "");
    ASSERT_EQ(c.axes[2], c.axes[0] * c.axes[1]);
    ASSERT_EQ(c.axes[3], 4);
  }
}

TEST(Case, MostRandomBytesAreSmallCases) {
  Random random(4);
  const auto schema = find_schema("softmax");
  std::map<int, int> classes;
  constexpr int trials = 20'000;
  for (int i = 0; i < trials; ++i) {
    std::vector<uint8_t> bytes = random_bytes(random);
    bytes.resize(40);
    ++classes[decode(schema, bytes, {}).size_class];
  }
  EXPECT_GT(classes[0], trials * 2 / 5);
  EXPECT_GT(classes[1], trials / 5);
  EXPECT_GT(classes[2], trials / 10);
  EXPECT_LT(classes[3], trials / 20);
}

TEST(Case, DecodeMutateEncodeIsFast) {
  Random random(5);
  for (const char* op : {"softmax", "attention"}) {
    const auto schema = find_schema(op);
    std::vector<uint8_t> bytes = encode(random_case(schema, random, {}));
    const int trials = test_effort(30'000);
    size_t total = 0;
    const std::clock_t begin = std::clock();
    for (int i = 0; i < trials; ++i) {
      Case c = decode(schema, bytes, {});
      mutate(c, random, {});
      encode(c, bytes);
      total += bytes.size();
    }
    const double time = static_cast<double>(std::clock() - begin) * 1e9 / CLOCKS_PER_SEC;
    fmt::print("{}: decode + mutate + encode {:.0f} ns, {:.0f} bytes\n", op, time / trials,
               static_cast<double>(total) / trials);
    EXPECT_LT(static_cast<double>(total) / trials, 100);
  }
}

}  // namespace
}  // namespace warpfuzz
