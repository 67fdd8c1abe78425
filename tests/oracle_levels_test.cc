// Every correct kernel, judged by level 0 of the oracle where that decides and by multiprecision
// throughout: the verdicts must be the same. A few cases each here; WARPFUZZ_LEVEL_CASES=300 makes
// it a sample of ten thousand, and prints which share of the elements level 0 left open.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "fuzzers/kernel_under_test.h"
#include "fuzzers/manifest.h"
#include "fuzzers/trial.h"
#include "schemas/mutation.h"

namespace warpfuzz {
namespace {

int wanted_cases() {
  const char* text = std::getenv("WARPFUZZ_LEVEL_CASES");
  return text != nullptr ? std::atoi(text) : 10;
}

std::vector<ManifestEntry> correct_kernels() {
  std::vector<ManifestEntry> kernels;
  for (ManifestEntry& entry : load_manifest(Installation::find())) {
    if (!entry.faulty && entry.device.empty()) kernels.push_back(std::move(entry));
  }
  return kernels;
}

class OracleLevels : public testing::TestWithParam<ManifestEntry> {};

TEST_P(OracleLevels, VerdictsAreThoseOfMultiprecision) {
  const ManifestEntry& entry = GetParam();
  const Installation installation = Installation::find();
  const auto schema = installation.schema(entry.op);
  const auto object =
      build_kernel(installation, entry.source, {}, find_build_mode("none").instrumentation);
  const KernelUnderTest under_test = load_kernel(entry.source, object, {}, *schema);
  Trial trial(schema, *under_test.kernel);
  TrialOptions multiprecision;
  multiprecision.minimum_oracle_level = 2;
  Trial forced(schema, *under_test.kernel, multiprecision);
  Random random(11);
  size_t elements = 0, escalated = 0, undecided = 0;
  for (int judged = 0; judged < wanted_cases();) {
    // Small: multiprecision takes microseconds for each operation.
    const Case c = random_case(schema, random, {.max_tier = Tier::exotic, .max_size_class = 1});
    const TrialResult result = trial.run(c);
    if (result.outcome == TrialOutcome::excluded) continue;
    ++judged;
    for (const Comparison& comparison : result.primary.comparisons) {
      escalated += comparison.escalated;
      undecided += comparison.undecided;
    }
    for (const Tensor& output : result.primary.outputs) {
      elements += static_cast<size_t>(output.size());
    }
    const TrialResult exact = forced.run(c);
    ASSERT_EQ(result.outcome, exact.outcome) << describe(c);
    ASSERT_EQ(result.gate, exact.gate) << describe(c);
  }
  fmt::print("{}: {} elements, {} left open by level 0, {} not judged\n", entry.name, elements,
             escalated, undecided);
}

INSTANTIATE_TEST_SUITE_P(Kernels, OracleLevels, testing::ValuesIn(correct_kernels()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace warpfuzz
