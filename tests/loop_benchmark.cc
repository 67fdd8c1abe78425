// The whole loop of a campaign but for libFuzzer itself: mutate, encode, decode, values, image,
// kernel, oracle, gates, features; softmax up to 4 x 200 with 64 threads, float32, all laws. The
// counters say where the time goes. Builds: the kernel carries what the preset gives it.
#include <benchmark/benchmark.h>

#include "fuzzers/features.h"
#include "fuzzers/kernel_under_test.h"
#include "fuzzers/trial.h"
#include "schemas/mutation.h"

namespace warpfuzz {
namespace {

void BM_SoftmaxLoop(benchmark::State& state) {
  const Installation installation = Installation::find();
  const auto schema = installation.schema("softmax");
  const auto source = find_kernel(installation, "softmax");
  const KernelUnderTest under_test =
      load_kernel(source, build_kernel(installation, source, {}), {}, *schema);
  Trial trial(schema, *under_test.kernel);
  Random random(1);
  const CaseLimits limits{.max_tier = Tier::everyday, .max_size_class = 1};
  std::vector<uint8_t> counters(feature_counter_count);
  Case c = random_case(schema, random, limits);
  size_t violations = 0;
  for (auto _ : state) {
    Case next = c;
    mutate(next, random, limits);
    next.axes = {1 + static_cast<int64_t>(random() % 4), 1 + static_cast<int64_t>(random() % 200)};
    next.dtype_combination = 0;
    next.size_class = 1;
    next = decode(schema, encode(next), limits);
    const TrialResult result = trial.run(next);
    record_features(next, result, counters);
    violations += result.outcome == TrialOutcome::violation;
    if (random() % 8 == 0) c = random_case(schema, random, limits);
  }
  const auto share = [&](double seconds) {
    return benchmark::Counter(seconds * 1e6, benchmark::Counter::kAvgIterations);
  };
  state.SetItemsProcessed(state.iterations());
  state.counters["values_us"] = share(trial.times().values);
  state.counters["kernel_us"] = share(trial.times().kernel);
  state.counters["oracle_us"] = share(trial.times().oracle);
  state.counters["gates_us"] = share(trial.times().gates);
  state.counters["violations"] = static_cast<double>(violations);
}
BENCHMARK(BM_SoftmaxLoop)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace warpfuzz
