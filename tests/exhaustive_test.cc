// Every elementwise operator on every bit pattern of float16 and of bfloat16: no correct kernel is
// accused, the oracle leaves nothing unjudged but what it must, and multiprecision agrees.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fuzzers/kernel_under_test.h"
#include "fuzzers/manifest.h"
#include "fuzzers/trial.h"
#include "reference/number_format.h"

namespace warpfuzz {
namespace {

constexpr size_t patterns = 0x10000;

bool is_elementwise(const Schema& schema) {
  return std::find(schema.tags.begin(), schema.tags.end(), "elementwise") != schema.tags.end();
}

std::vector<ManifestEntry> correct_elementwise_kernels() {
  const Installation installation = Installation::find();
  std::vector<ManifestEntry> kernels;
  for (ManifestEntry& entry : load_manifest(installation)) {
    if (entry.faulty || !entry.device.empty()) continue;
    if (is_elementwise(*installation.schema(entry.op))) kernels.push_back(std::move(entry));
  }
  return kernels;
}

// Calls of 256 x 256 elements: each pair of types whose input has 16 bits, each choice that an
// attribute leaves.
std::vector<Case> calls_of(const std::shared_ptr<const Schema>& schema) {
  Case plain = decode(schema, {}, {});
  plain.size_class = size_class_count - 1;
  std::fill(plain.axes.begin(), plain.axes.end(), 256);
  std::vector<Case> calls;
  for (size_t i = 0; i < schema->dtype_combinations.size(); ++i) {
    plain.dtype_combination = i;
    if (info(plain.dtype(schema->inputs[0])).bytes != 2) continue;
    size_t choices = 1;
    for (const Attribute& attribute : schema->attributes) {
      if (!attribute.choices.empty()) choices = attribute.choices.size();
    }
    for (size_t choice = 0; choice < choices; ++choice) {
      Case c = plain;
      if (choices > 1) c.attributes[0].integer = static_cast<int64_t>(choice);
      calls.push_back(c);
    }
  }
  return calls;
}

// With 0 in place of NaN and infinities if these are not wanted.
Tensor every_pattern(const Case& c, bool specials) {
  Tensor x{c.dtype(c.schema->inputs[0]), c.shape(c.schema->inputs[0]), {}};
  x.data.resize(patterns * sizeof(uint16_t));
  for (size_t i = 0; i < patterns; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    if (!specials && !std::isfinite(decode_element(x.dtype, bits))) continue;
    std::memcpy(x.data.data() + i * sizeof bits, &bits, sizeof bits);
  }
  return x;
}

class Exhaustive : public testing::TestWithParam<ManifestEntry> {};

TEST_P(Exhaustive, NoPatternOfSixteenBitsIsCalledWrong) {
  const ManifestEntry& entry = GetParam();
  const Installation installation = Installation::find();
  const auto schema = installation.schema(entry.op);
  const auto object =
      build_kernel(installation, entry.source, {}, find_build_mode("none").instrumentation);
  const KernelUnderTest under_test = load_kernel(entry.source, object, {}, *schema);
  Trial trial(schema, *under_test.kernel);
  const std::vector<Case> calls = calls_of(schema);
  ASSERT_GE(calls.size(), 4u);
  for (const Case& c : calls) {
    ASSERT_EQ(illegality(c), "");
    if (!trial.preconditions().admit(c)) continue;
    const std::vector<Tensor> inputs = {every_pattern(c, true)};
    const TrialResult result = trial.run(c, inputs);
    ASSERT_EQ(result.outcome, TrialOutcome::pass)
        << describe(c) << ": " << (result.gate != nullptr ? result.gate->id : "not judged") << ' '
        << result.finding.reason;
    // Multiprecision knows finite operands only, and takes microseconds for each: once for each
    // type of input.
    if (c.dtype(schema->outputs[0]) != inputs[0].dtype) continue;
    const std::vector<Tensor> finite = {every_pattern(c, false)};
    const TrialResult again = trial.run(c, finite);
    const Oracle exact(c, finite, {.minimum_level = 2});
    const Comparison verdict = exact.compare(0, again.primary.outputs[0]);
    EXPECT_TRUE(verdict.offending.empty()) << describe(c);
    EXPECT_EQ(verdict.undecided, 0u) << describe(c);
    if (!exact.expectation(0).exact) EXPECT_GE(verdict.escalated, patterns / 4) << describe(c);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Exhaustive, testing::ValuesIn(correct_elementwise_kernels()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace warpfuzz
