// Matrix products judged where they lie: the device's code (huge_product.cu, here on the CPU
// device) expects of each element what the oracle does, and decides as the oracle's first look.
#include "kernels/cuda/huge_product.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <random>
#include <span>

#include "kernels/device.h"
#include "reference/comparison.h"
#include "reference/number_format.h"
#include "reference/oracle.h"
#include "schemas/schema.h"
#include "seeds/value_law.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;
using huge::ProductTask;

constexpr int64_t rule_words = sizeof(ProductRule) / sizeof(double);

// The arguments of huge_product.cu as an operator, in the shapes that the host gives them.
std::shared_ptr<const Schema> work_schema(ProductTask task) {
  const char* const forms[][2] = {
      {R"("three")", "int64"}, {R"("m")", "int64"}, {R"("r", "n", "four")", "float64"}};
  const auto& [shape, type] = forms[static_cast<size_t>(task)];
  std::string combinations;
  for (const char* t : {"float32", "float16", "bfloat16"}) {
    for (const char* u : {"float32", "float16", "bfloat16"}) {
      combinations += fmt::format(R"({}{{"T": "{}", "U": "{}", "R": "float64", "I": "int64",
                                       "Y": "{}", "tier": 1}})",
                                  combinations.empty() ? "" : ", ", t, u, type);
    }
  }
  const auto tensor = [](const char* name, const char* dtype, bool output) {
    return fmt::format(R"("{}": {{"dtype": "{}", "layouts": ["contiguous"]{}}})", name, dtype,
                       output ? "" : R"(, "laws": ["normal"])");
  };
  return parse_schema(
      fmt::format(
          R"({{"name": "work", "op_type": "work", "description": "", "tags": [],
      "axes": {{"m": {{"type": "var"}}, "k": {{"type": "var"}}, "n": {{"type": "var"}},
                "r": {{"type": "var"}}, "w": {{"type": "const", "value": {}}},
                "three": {{"type": "const", "value": 3}}, "four": {{"type": "const", "value": 4}},
                "one": {{"type": "const", "value": 1}}}},
      "inputs": {{"a": {{"shape": ["m", "k"], "dtype": "float32"}},
                  "b": {{"shape": ["k", "n"], "dtype": "float32"}},
                  "c": {{"shape": ["m", "n"], "dtype": "float32"}},
                  "rule": {{"shape": ["one", "w"], "dtype": "float64"}},
                  "rows": {{"shape": ["one", "r"], "dtype": "int64"}}}},
      "outputs": {{"y": {{"shape": [{}], "dtype": "{}"}}}},
      "fuzz": {{
        "dtypes": {{"T": ["float32", "float16", "bfloat16"], "U": ["float32", "float16", "bfloat16"],
                   "R": ["float64"], "I": ["int64"], "Y": ["{}"]}},
        "dtype_combinations": [{}],
        "axes": {{"m": {{"role": "free", "range": [0, 1000]}}, "k": {{"role": "free", "range": [0, 1000]}},
                 "n": {{"role": "free", "range": [0, 1000]}}, "r": {{"role": "free", "range": [0, 1000]}},
                 "w": {{"role": "free"}}, "three": {{"role": "free"}}, "four": {{"role": "free"}},
                 "one": {{"role": "free"}}}},
        "tensors": {{{}, {}, {}, {}, {}, {}}},
        "attributes": {{"task": {{"kind": "integer", "range": [0, 9], "usual": [0]}}}},
        "work": "m * n",
        "contract": {{"accumulator": "float32", "output_roundings": 1, "non_finite": "propagate",
          "subnormal": "preserve", "determinism": "bitwise", "batch_invariant": true,
          "may_alias": false, "slack": []}}}}}})",
          rule_words, shape, type, type, combinations, tensor("a", "T", false),
          tensor("b", "T", false), tensor("c", "U", false), tensor("rule", "R", false),
          tensor("rows", "I", false), tensor("y", "Y", true)),
      "work.json");
}

struct Product {
  Case c;  // of matmul
  std::vector<Tensor> inputs;
  Tensor observed;
  int64_t rows() const { return c.axes[0]; }
  int64_t columns() const { return c.axes[1]; }
  int64_t addends() const { return c.axes[2]; }
};

Magnitudes magnitudes_of(const Tensor& tensor) {
  Magnitudes found{HUGE_VAL, 0};
  for (const double value : decode_tensor(tensor)) {
    const double size = std::fabs(value);
    if (size != 0) found.smallest = std::min(found.smallest, size);
    found.largest = std::max(found.largest, size);
  }
  return found;
}

std::optional<ProductRule> rule_of(const Product& p) {
  return product_rule(p.c.schema->contract, p.inputs[0].dtype, p.observed.dtype, p.addends(),
                      magnitudes_of(p.inputs[0]), magnitudes_of(p.inputs[1]));
}

class HugeProduct : public testing::Test {
 protected:
  // Of the device's code, on the CPU device.
  static Tensor run(ProductTask task, const Product& p, const ProductRule& rule,
                    const std::vector<int64_t>& rows) {
    static const std::unique_ptr<Device> device = make_cpu_device();
    static const std::unique_ptr<Kernel> kernel = [] {
      CompileRequest request;
      request.instrumentation = {.coverage = false, .address = false, .undefined = false};
      request.cache_directory = fs::temp_directory_path() / "warpfuzz-huge-tensors-test";
      request.kernel_directory = fs::path(WARPFUZZ_SOURCE_DIR) / "kernels";
      request.include_directory = request.kernel_directory / "simt/include";
      return device->load(cuda::compile_huge(request, "huge_product.cu"), nullptr);
    }();
    Case c = decode(work_schema(task), {}, {});
    for (size_t i = 0; i < c.schema->dtype_combinations.size(); ++i) {
      const std::vector<DType>& dtypes = c.schema->dtype_combinations[i].dtypes;
      if (dtypes[0] == p.inputs[0].dtype && dtypes[1] == p.observed.dtype) c.dtype_combination = i;
    }
    c.axes = {p.rows(),   p.addends(), p.columns(), static_cast<int64_t>(rows.size()),
              rule_words, 3,           4,           1};
    c.inputs.assign(5, {});
    c.attributes[0].integer = static_cast<int64_t>(task);
    Tensor words{DType::float64, {1, rule_words}, std::vector<std::byte>(sizeof rule)};
    std::memcpy(words.data.data(), &rule, sizeof rule);
    Tensor numbers{DType::int64, {1, static_cast<int64_t>(rows.size())}, {}};
    std::ranges::copy(std::as_bytes(std::span(rows)), std::back_inserter(numbers.data));
    const std::vector<Tensor> inputs = {p.inputs[0], p.inputs[1], p.observed, words, numbers};
    MemoryImage image;
    image.compose(c, inputs, 0, nan_fill, 1);
    const RunResult result = kernel->run(c, image, {});
    EXPECT_EQ(result.status, RunStatus::ok) << result.message;
    EXPECT_TRUE(image.find_damage(inputs).empty());
    return image.gather_output(0);
  }

  static std::vector<ProductExpectation> expect(const Product& p, const ProductRule& rule,
                                                const std::vector<int64_t>& rows) {
    const Tensor result = run(ProductTask::expect, p, rule, rows);
    std::vector<double> words(result.data.size() / sizeof(double));
    std::memcpy(words.data(), result.data.data(), result.data.size());
    std::vector<ProductExpectation> expected;
    for (size_t i = 0; i < words.size(); i += 4) {
      const auto classes = static_cast<unsigned>(words[i + 3]);
      expected.push_back({words[i], words[i + 1], words[i + 2], static_cast<uint8_t>(classes & 15),
                          static_cast<uint8_t>(classes >> 4)});
    }
    return expected;
  }

  static std::vector<huge::RowTally> judge(const Product& p, const ProductRule& rule) {
    const Tensor result = run(ProductTask::judge, p, rule, {});
    std::vector<huge::RowTally> tallies(static_cast<size_t>(p.rows()));
    std::memcpy(tallies.data(), result.data.data(), result.data.size());
    return tallies;
  }

  // Random products of every dtype combination and of laws without NaN, infinities and lattices.
  template <class Body>
  void for_each(int seeds, Body body) {
    const auto schema = load_schema(WARPFUZZ_SOURCE_DIR "/schemas/matmul.json");
    for (const ValueLaw law :
         {ValueLaw::normal, ValueLaw::uniform, ValueLaw::log_uniform, ValueLaw::cancelling_pairs,
          ValueLaw::tail_spike, ValueLaw::large_mean, ValueLaw::tiny_spread, ValueLaw::outliers,
          ValueLaw::near_overflow, ValueLaw::subnormal}) {
      for (size_t dtypes = 0; dtypes < schema->dtype_combinations.size(); ++dtypes) {
        for (int seed = 0; seed < seeds; ++seed) {
          Product p;
          p.c = decode(schema, {}, {});
          p.c.dtype_combination = dtypes;
          const int64_t extents[][3] = {{37, 45, 70}, {3, 130, 16}, {70, 5, 301}, {65, 33, 1}};
          const int64_t(&extent)[3] = extents[random_() % 4];
          p.c.axes = {extent[0], extent[1], extent[2]};
          p.c.inputs.assign(2, {});
          p.c.inputs[0].law = law;
          // Half of them with an easier partner.
          p.c.inputs[1].law = random_() % 2 == 0 ? law : ValueLaw::normal;
          for (TensorCase& input : p.c.inputs) input.seed = static_cast<uint32_t>(random_());
          p.inputs = make_inputs(p.c);
          p.observed = {p.c.dtype(schema->outputs[0]), p.c.shape(schema->outputs[0]), {}};
          p.observed.data.resize(static_cast<size_t>(p.observed.size()) *
                                 info(p.observed.dtype).bytes);
          SCOPED_TRACE(describe(p.c));
          body(p);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }

  std::mt19937_64 random_{1};
};

TEST_F(HugeProduct, TheDeviceExpectsWhatTheOracleExpects) {
  size_t products = 0, elements = 0, unsure = 0, other_classes = 0, aligned = 0;
  for_each(3, [&](const Product& p) {
    const std::optional<ProductRule> rule = rule_of(p);
    if (!rule) {  // subnormals of the accumulator's range
      EXPECT_NE(p.inputs[0].dtype, DType::float16);
      return;
    }
    ++products;
    const Oracle oracle(p.c, p.inputs);
    const OutputExpectation& host = oracle.expectation(0);
    const std::vector<int64_t> rows = {0, p.rows() - 1, p.rows() / 2, 0};
    const std::vector<ProductExpectation> device = expect(p, *rule, rows);
    const auto columns = static_cast<size_t>(p.columns());
    ASSERT_EQ(device.size(), rows.size() * columns);
    for (size_t i = 0; i < device.size(); ++i) {
      const ProductExpectation& x = device[i];
      const size_t at = static_cast<size_t>(rows[i / columns]) * columns + i % columns;
      ASSERT_LE(std::fabs(x.value - host.value[at]), x.error + host.oracle_error[at]);
      ASSERT_NEAR(x.error, host.oracle_error[at], rule->margin * x.error);
      ASSERT_NEAR(x.tolerance, host.tolerance[at], rule->margin * host.tolerance[at]) << i;
      ASSERT_EQ(x.always & ~host.allowed[at], 0);
      ASSERT_EQ(host.allowed[at] & ~x.possibly, 0);
      ++elements;
      unsure += x.always != x.possibly;
      other_classes += x.always != class_finite;
      aligned += rule->normal > 0;
    }
  });
  EXPECT_GT(products, 100u);
  EXPECT_LT(unsure, elements / 1000);
  EXPECT_GT(other_classes, elements / 100);
  EXPECT_GT(aligned, elements / 4);
}

// What a kernel may have written for an element, right or not.
double written(std::mt19937_64& random, const OutputExpectation& x, size_t i) {
  const double shares[] = {0, 0.5, 0.97, 0.999999, 1.000001, 1.03, 2, 1e3, 1e9};
  const double choice = shares[random() % std::size(shares)];
  switch (random() % 16) {
    case 0:
      return NAN;
    case 1:
      return HUGE_VAL;
    case 2:
      return -HUGE_VAL;
    case 3:
      return 0;
    case 4:
      return -x.value[i];
    default:
      return x.value[i] + (random() % 2 == 0 ? 1 : -1) * choice * x.tolerance[i];
  }
}

TEST_F(HugeProduct, TheDeviceDecidesAsTheOraclesFirstLook) {
  size_t inside = 0, outside = 0, open = 0, confirmed = 0;
  for_each(3, [&](Product& p) {
    const std::optional<ProductRule> rule = rule_of(p);
    if (!rule) return;
    const Oracle oracle(p.c, p.inputs);
    const OutputExpectation& host = oracle.expectation(0);
    // A few rows at most are wrong.
    std::vector<double> values = host.value;
    const auto columns = static_cast<size_t>(p.columns());
    for (size_t i = 0; i < values.size(); ++i) {
      if (i / columns % 3 == 0 || random_() % 50 == 0) values[i] = written(random_, host, i);
    }
    encode_tensor(values, p.observed);
    values = decode_tensor(p.observed);
    const OutputRounding rounding(traits(p.observed.dtype), p.c.schema->contract.output_roundings);
    const std::vector<huge::RowTally> tallies = judge(p, *rule);
    const Comparison comparison = oracle.compare(0, p.observed);
    std::vector<size_t> offending(tallies.size());
    for (const size_t element : comparison.offending) ++offending[element / columns];
    for (size_t row = 0; row < tallies.size(); ++row) {
      size_t host_outside = 0, host_inside = 0;
      for (size_t i = row * columns; i < (row + 1) * columns; ++i) {
        const Decision decision = first_look(host, i, rounding, values[i]);
        host_outside += decision == Decision::outside;
        host_inside += decision == Decision::inside;
      }
      const huge::RowTally& tally = tallies[row];
      // Each is certain of what it says.
      ASSERT_LE(tally.outside + host_inside, columns) << row;
      ASSERT_LE(host_outside, tally.outside + tally.open) << row;
      // And both say nearly everything.
      ASSERT_GE(tally.outside + tally.open + host_inside, columns) << row;
      ASSERT_LE(offending[row], tally.outside + tally.open) << row;
      inside += columns - tally.outside - tally.open;
      outside += tally.outside;
      open += tally.open;
      confirmed += offending[row];
    }
  });
  EXPECT_GT(inside, 100'000u);
  EXPECT_GT(outside, 20'000u);
  EXPECT_LT(open, (inside + outside) / 500);
  EXPECT_GT(confirmed, outside * 9 / 10);
}

// What depends on sums that are not known well enough is nobody's fault yet.
TEST(ProductRule, LeavesOpenWhatTheSumsDoNotTell) {
  const auto schema = load_schema(WARPFUZZ_SOURCE_DIR "/schemas/matmul.json");
  const std::optional<ProductRule> rule =
      product_rule(schema->contract, DType::float32, DType::float32, 4, {1, 2}, {1, 2});
  ASSERT_TRUE(rule);
  constexpr uint8_t infinite = class_positive_infinity;
  struct Row {
    ProductExpectation x;
    double y;
    Decision decision;
  };
  const double step = 0x1p-24 + 0x1p-20;  // from 1: tolerance and half an ulp
  const Row rows[] = {
      {{1, 0, 0x1p-20, class_finite, class_finite}, 1, Decision::inside},
      {{1, 0, 0x1p-20, class_finite, class_finite}, 1 + step * (1 - 0x1p-30), Decision::inside},
      {{1, 0, 0x1p-20, class_finite, class_finite}, 1 + step, Decision::open},
      {{1, 0, 0x1p-20, class_finite, class_finite}, 1 + step * (1 + 0x1p-30), Decision::outside},
      {{1, 1e-9, 0x1p-20, class_finite, class_finite}, 1 + step - 5e-10, Decision::open},
      {{1, 1e-9, 0x1p-20, class_finite, class_finite}, 1 + step + 2e-9, Decision::outside},
      {{1, 0, 0x1p-20, class_finite, class_finite}, HUGE_VAL, Decision::outside},
      {{1, 0, 0x1p-20, class_finite, class_finite | infinite}, HUGE_VAL, Decision::open},
      {{1, 0, 0x1p-20, class_finite | infinite, class_finite | infinite},
       HUGE_VAL,
       Decision::inside},
      {{1, 0, 0x1p-20, infinite, class_finite | infinite}, 1, Decision::open},
      {{1, 0, 0x1p-20, infinite, infinite}, 1, Decision::outside},
      {{1, 0, 0x1p-20, 0, class_any}, NAN, Decision::open},  // an operand is not finite
      {{1, 0, 0x1p-20, class_finite, class_finite}, NAN, Decision::outside},
      {{0, 0, 0, class_finite, class_finite}, -0.0, Decision::inside},
      {{0, 0, 0, class_finite, class_finite}, 0x1p-149, Decision::outside}};
  for (const Row& row : rows) {
    EXPECT_EQ(rule->decide(row.x, row.y), row.decision) << row.x.value << " " << row.y;
  }
  // The edge at which a partial sum overflows.
  const double edge = traits(DType::float32).largest / (1 + 4 * 0x1p-24);
  for (const auto& [share, always, possibly] :
       {std::tuple(0.5, class_finite, uint8_t{class_finite}),
        std::tuple(1.0, class_finite, uint8_t{class_finite | infinite}),
        std::tuple(1 - 1e-12, class_finite, uint8_t{class_finite})}) {
    const ProductSums sums{edge * share, edge * share * 0.9, 1, {}};
    const ErrorTerms terms = rule->terms(sums);
    const ProductExpectation x = rule->expectation(sums, terms, std::sqrt(terms.var));
    EXPECT_EQ(x.always, always) << share;
    EXPECT_EQ(x.possibly, possibly) << share;
  }
  // Subnormals of a may read as 0, one by one.
  EXPECT_FALSE(
      product_rule(schema->contract, DType::float32, DType::float32, 4, {0x1p-127, 2}, {1, 2}));
}

TEST_F(HugeProduct, MagnitudesAreThoseOfTheElements) {
  for_each(1, [&](Product& p) {
    for (const bool special : {false, true}) {
      if (special) {
        std::memset(p.inputs[0].data.data(), 0xFF, info(p.inputs[0].dtype).bytes);
      }
      const Tensor result = run(ProductTask::magnitudes, p, {}, {});
      uint64_t words[3];
      std::memcpy(words, result.data.data(), sizeof words);
      EXPECT_EQ(words[2], special ? 1u : 0u);
      if (special) continue;
      const Magnitudes expected = magnitudes_of(p.inputs[0]);
      EXPECT_EQ(std::bit_cast<double>(words[0]), expected.smallest);
      EXPECT_EQ(std::bit_cast<double>(words[1]), expected.largest);
    }
  });
}

}  // namespace
}  // namespace warpfuzz
