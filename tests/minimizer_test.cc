#include "crashes/minimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "crashes/stored_call.h"
#include "schemas/mutation.h"

namespace warpfuzz {
namespace {

constexpr std::string_view toy_schema = R"({
  "name": "toy",
  "op_type": "toy",
  "axes": {"m": {"type": "var"}, "n": {"type": "var"}},
  "inputs": {"x": {"shape": ["m", "n"], "dtype": "float32"}},
  "outputs": {"y": {"shape": ["m", "n"], "dtype": "float32"}},
  "fuzz": {
    "dtypes": {"T": ["float32", "float16"]},
    "axes": {"m": {"role": "batch", "range": [0, 100000]},
             "n": {"role": "reduction", "range": [1, 100000]}},
    "attributes": {
      "eps": {"kind": "real", "range": [0, 1], "usual": [0.5], "values": [0.25]},
      "mode": {"kind": "choice", "choices": ["erf", "tanh"]}
    },
    "tensors": {
      "x": {"dtype": "T", "layouts": ["contiguous", "row_strided"], "offsets": true,
            "laws": ["normal", "constant", "outliers", "ramp"]},
      "y": {"dtype": "T", "layouts": ["contiguous", "row_strided"], "offsets": true}
    },
    "work": "m * n",
    "contract": {"accumulator": "float32"}
  }
})";

// A case that uses everything that could be simplified.
Case elaborate_case() {
  Case c;
  c.schema = parse_schema(toy_schema, "toy.json");
  c.size_class = 3;
  c.dtype_combination = 1;
  c.axes = {7, 5003};
  c.attributes = {{0, 0.25}, {1, 0}};
  c.inputs.resize(1);
  c.inputs[0] = {Layout::row_strided, 8, 3, ValueLaw::outliers, 12345, {}};
  c.inputs[0].pokes = {{17, PokeValue::one}, {4000, PokeValue::nan}, {9, PokeValue::largest}};
  c.outputs.resize(1);
  c.outputs[0] = {Layout::row_strided, 2, 1, ValueLaw::normal, 0, {}};
  legalize(c, {.max_tier = Tier::exotic, .max_size_class = 3});
  EXPECT_EQ(illegality(c), "");
  return c;
}

bool has_nan(const Case& c) {
  return std::ranges::any_of(c.inputs[0].pokes,
                             [](const Poke& poke) { return poke.value == PokeValue::nan; });
}

TEST(Minimizer, FindsTheSmallestCaseOfEachFault) {
  const struct {
    const char* fault;
    bool (*fails)(const Case&);
    int64_t m, n;
    size_t pokes;
  } rows[] = {
      {"always", [](const Case&) { return true; }, 1, 1, 0},
      {"tail", [](const Case& c) { return c.axes[1] > 1024; }, 1, 1025, 0},
      {"tail with NaN", [](const Case& c) { return c.axes[1] > 1024 && has_nan(c); }, 1, 1025, 1},
      {"threshold off the grid", [](const Case& c) { return c.axes[1] >= 1777; }, 1, 1777, 0},
      {"several rows", [](const Case& c) { return c.axes[0] * c.axes[1] > 300; }, 1, 301, 0},
      {"multiples of 8", [](const Case& c) { return c.axes[1] % 8 != 0; }, 1, 1, 0},
      {"strided input", [](const Case& c) { return c.inputs[0].row_padding > 0; }, 1, 1, 0},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.fault);
    const MinimizeResult result = minimize(elaborate_case(), row.fails);
    EXPECT_EQ(name(result.stop), "minimal");
    EXPECT_TRUE(row.fails(result.smallest));
    // An empty or unit row axis is the least there is, whichever the order prefers.
    EXPECT_EQ(result.smallest.axes[0], row.m) << describe(result.smallest);
    EXPECT_EQ(result.smallest.axes[1], row.n) << describe(result.smallest);
    EXPECT_EQ(result.smallest.inputs[0].pokes.size(), row.pokes) << describe(result.smallest);
    EXPECT_LT(result.trials, 500u);
  }
}

TEST(Minimizer, SimplifiesAllThatTheFaultDoesNotNeed) {
  const Case smallest = minimize(elaborate_case(), has_nan).smallest;
  EXPECT_EQ(smallest.axes, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(smallest.size_class, 0);
  EXPECT_EQ(smallest.attributes[0].real, 0.5);
  EXPECT_EQ(smallest.inputs[0].layout, Layout::contiguous);
  EXPECT_EQ(smallest.inputs[0].offset, 0);
  EXPECT_EQ(smallest.inputs[0].law, ValueLaw::constant);
  EXPECT_EQ(smallest.inputs[0].seed, 0u);
  EXPECT_EQ(smallest.inputs[0].pokes, (std::vector<Poke>{{0, PokeValue::nan}}));
  EXPECT_EQ(smallest.outputs[0].layout, Layout::contiguous);
}

TEST(Minimizer, TriesNoCaseTwiceAndOnlyLegalOnes) {
  Random random(1);
  const auto schema = parse_schema(toy_schema, "toy.json");
  for (int round = 0; round < 20; ++round) {
    const Case start = random_case(schema, random, {.max_tier = Tier::exotic});
    std::set<std::vector<uint8_t>> tried;
    const auto fails = [&](const Case& c) {
      EXPECT_TRUE(tried.insert(encode(c)).second) << describe(c);
      EXPECT_EQ(illegality(c), "") << describe(c);
      return c.axes[1] >= std::min<int64_t>(start.axes[1], 100);
    };
    const MinimizeResult result = minimize(start, fails);
    EXPECT_EQ(result.trials, tried.size());
    EXPECT_LE(complexity(result.smallest), complexity(start));
  }
}

TEST(Minimizer, StopsAtItsLimits) {
  const Case start = elaborate_case();
  const auto always = [](const Case&) { return true; };
  const MinimizeResult few = minimize(start, always, {.max_trials = 3});
  EXPECT_EQ(name(few.stop), "trial limit");
  EXPECT_EQ(few.trials, 3u);
  EXPECT_EQ(few.steps, 2u);
  const MinimizeResult late =
      minimize(start, always, {.deadline = std::chrono::steady_clock::now()});
  EXPECT_EQ(name(late.stop), "deadline");
  EXPECT_EQ(late.trials, 0u);
  EXPECT_EQ(late.smallest, start);
}

TEST(Minimizer, SaysThatTheStartDoesNotFail) {
  const Case start = elaborate_case();
  const MinimizeResult result = minimize(start, [](const Case&) { return false; });
  EXPECT_EQ(name(result.stop), "does not fail");
  EXPECT_EQ(result.trials, 1u);
  EXPECT_EQ(result.smallest, start);
}

TEST(StoredCall, RestoresTheSameCase) {
  Random random(1);
  const auto schema = parse_schema(toy_schema, "toy.json");
  for (int round = 0; round < 200; ++round) {
    const Case c = random_case(schema, random, {.max_tier = Tier::exotic});
    EXPECT_EQ(restore_call(store_call(c), schema), c) << describe(c);
  }
}

std::shared_ptr<const Schema> changed(const std::string& from, const std::string& to) {
  std::string text(toy_schema);
  const size_t position = text.find(from);
  EXPECT_NE(position, std::string::npos) << from;
  return parse_schema(text.replace(position, from.size(), to), "toy.json");
}

TEST(StoredCall, OutlivesReorderingOfTheSchema) {
  const StoredCall call = store_call(elaborate_case());
  const Case reordered =
      restore_call(call, changed(R"("m": {"type": "var"}, "n": {"type": "var"})",
                                 R"("n": {"type": "var"}, "m": {"type": "var"})"));
  EXPECT_EQ(reordered.axes, (std::vector<int64_t>{5003, 7}));
  const Case choice =
      restore_call(call, changed(R"(["erf", "tanh"])", R"(["new", "erf", "tanh"])"));
  EXPECT_EQ(choice.attributes[1].integer, 2);
  const Case dtype = restore_call(
      call, changed(R"(["float32", "float16"])", R"(["float32", "bfloat16", "float16"])"));
  EXPECT_EQ(dtype.dtype_combination, 2u);
}

TEST(StoredCall, SaysWhatNoLongerFits) {
  const StoredCall call = store_call(elaborate_case());
  const struct {
    const char* from;
    const char* to;
    const char* message;
  } rows[] = {
      {R"(["float32", "float16"])", R"(["float32"])", "it does not allow the dtypes (float16)"},
      {R"(["erf", "tanh"])", R"(["erf"])", "attribute \"mode\" has no choice \"tanh\""},
      {R"("eps": {)", R"("epsilon": {)", "it has attribute \"epsilon\", the call has not"},
      {R"("mode": {"kind": "choice", "choices": ["erf", "tanh"]})",
       R"("mode": {"kind": "choice", "choices": ["erf", "tanh"]}, "b": {"kind": "boolean"})",
       "it has attribute \"b\", the call has not"},
  };
  for (const auto& row : rows) {
    try {
      restore_call(call, changed(row.from, row.to));
      ADD_FAILURE() << "restored: " << row.message;
    } catch (const ReproducerError& error) {
      EXPECT_EQ(error.what(),
                std::string("schema toy does not fit the stored call: ") + row.message);
    }
  }
}

}  // namespace
}  // namespace warpfuzz
