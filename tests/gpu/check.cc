// Random cases through the whole judgement on the GPU: a correct kernel stays clean, a faulty one
// is caught by its gate.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "tests/gpu/commands.h"
#include "tests/gpu/setup.h"

namespace warpfuzz::gpu {

int check(const Arguments& a) {
  Setup setup(a.op, a.kernel);
  Trial trial(setup.schema, *setup.kernel);
  const CaseLimits limits{.max_tier = static_cast<Tier>(a.tier),
                          .max_size_class = static_cast<uint8_t>(a.size_class)};
  Random random(a.seed);
  random.discard(2);
  uint64_t ran = 0, undecided = 0, launches = 0;
  bool lost = false;
  DeviceUse use;
  const double start = seconds_now();
  std::string found = "clean", reason;
  std::vector<uint8_t> coverage;  // of the last case
  while (ran < a.cases && seconds_now() - start < a.seconds) {
    const Case c = draw_case(setup.schema, trial.preconditions(), random, limits);
    const TrialResult result = trial.run(c);
    ++ran;
    launches += result.primary.run.launches;
    if (result.primary.run.device_use) {
      const DeviceUse& u = *result.primary.run.device_use;
      use.registers = std::max(use.registers, u.registers);
      use.shared_bytes = std::max(use.shared_bytes, u.shared_bytes);
      use.local_bytes = std::max(use.local_bytes, u.local_bytes);
      use.foreign_launches += u.foreign_launches;
      use.host_copies += u.host_copies;
    }
    coverage = result.primary.run.coverage;
    lost = result.primary.run.device_lost;
    undecided += result.outcome == TrialOutcome::undecided;
    if (result.outcome != TrialOutcome::violation) continue;
    found = result.gate->id;
    reason = fmt::format("{} | {}", result.finding.reason, describe(c));
    for (const Fault& fault : result.finding.faults) reason += " | " + fault.message;
    break;
  }
  const double seconds = seconds_now() - start;
  const auto reached =
      std::ranges::count_if(coverage, [](uint8_t counter) { return counter != 0; });
  const bool as_expected = std::find(a.expect.begin(), a.expect.end(), found) != a.expect.end();
  fmt::print(
      "check {} {} expected={} found={} cases={} undecided={} per_second={:.0f} launches={} "
      "registers={} shared={} local={} foreign={} host_copies={} counters={}/{}{}{}\n",
      a.name, as_expected ? "OK" : "DIFFERS", fmt::join(a.expect, ","), found, ran, undecided,
      static_cast<double>(ran) / seconds, launches, use.registers, use.shared_bytes,
      use.local_bytes, use.foreign_launches, use.host_copies, reached, setup.kernel->counters(),
      reason.empty() ? "" : " : ", reason);
  std::fflush(stdout);
  if (lost) _exit(as_expected ? 0 : 1);  // nothing of the device can be given back
  return as_expected ? 0 : 1;
}

}  // namespace warpfuzz::gpu
