// The trials that a kernel must pass before its time is taken.
#include <fmt/format.h>

#include "fuzzers/bench.h"
#include "fuzzers/finding.h"
#include "fuzzers/kernel_under_test.h"
#include "fuzzers/report.h"
#include "schemas/mutation.h"

namespace warpfuzz {
namespace {

constexpr CaseLimits limits = {.max_tier = Tier::everyday, .max_size_class = 2};
constexpr uint32_t draws_per_trial = 64;
constexpr uint32_t seed = 1;  // the same cases each time

}  // namespace

std::optional<std::string> quick_verdict(const BenchOptions& options,
                                         const std::filesystem::path& source,
                                         const std::filesystem::path& object,
                                         BenchVerdict& verdict) {
  KernelUnderTest under_test = load_kernel(source, object, options.device, *options.schema);
  Trial trial(options.schema, *under_test.kernel);
  Random random(seed);
  verdict.kernel = under_test.identity.name;
  for (uint32_t draw = 0; verdict.trials < options.trials; ++draw) {
    if (draw == options.trials * draws_per_trial) break;
    const Case c = random_case(options.schema, random, limits);
    const TrialResult result = trial.run(c);
    if (result.outcome == TrialOutcome::excluded) {
      ++verdict.excluded;
      continue;
    }
    ++verdict.trials;
    if (result.outcome == TrialOutcome::undecided) ++verdict.undecided;
    if (result.outcome == TrialOutcome::violation) {
      return describe_finding(
          make_reproducer(c, limits, result, under_test.identity, options.device.text()), {});
    }
  }
  if (verdict.trials == verdict.undecided) {
    return fmt::format(
        "nothing was judged: of {} everyday calls drawn, the preconditions \"{}\" exclude {}, and "
        "the oracle could not judge {}\n  kernel      {}\n",
        verdict.trials + verdict.excluded, trial.preconditions().text(), verdict.excluded,
        verdict.undecided, shown_path(source));
  }
  return std::nullopt;
}

}  // namespace warpfuzz
