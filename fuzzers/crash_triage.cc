#include "fuzzers/crash_triage.h"

#include <optional>

#include "crashes/minimizer.h"
#include "crashes/signature_store.h"
#include "fuzzers/alone.h"
#include "fuzzers/finding.h"
#include "fuzzers/installation.h"
#include "schemas/check.h"

namespace warpfuzz {
namespace {

constexpr std::chrono::seconds minimize_time{20};
constexpr uint64_t minimize_trials = 200;  // each starts a process

struct Crash {
  Signature signature;
  Reproducer reproducer;
};

KernelIdentity identity_of(const std::filesystem::path& kernel) {
  KernelIdentity identity;
  identity.name = kernel.stem().string();
  identity.path = project_path(kernel);
  return identity;
}

// What the case alone ends with, if that is not well.
std::optional<Crash> crash_alone(const Case& c, const WorkerOptions& worker) {
  AloneResult alone = run_alone(c, worker);
  if (alone.ended_well() || alone.tells_nothing()) return std::nullopt;
  if (!alone.finding) {
    return Crash{crash_signature(c),
                 make_crash_reproducer(c, worker.limits, identity_of(worker.kernel),
                                       worker.device.text(), alone.ending.text())};
  }
  const auto signature = Signature::parse(alone.finding->signature);
  WARPFUZZ_CHECK(signature, "a finding with the signature '{}'", alone.finding->signature);
  return Crash{*signature, std::move(*alone.finding)};
}

}  // namespace

bool triage_crash(std::span<const uint8_t> bytes, const WorkerOptions& worker) {
  const Case start = decode(Installation::find().schema(worker.op), bytes, worker.limits);
  SignatureStore store(WorkDirectory{worker.work}.findings());
  std::optional<Crash> smallest = crash_alone(start, worker);
  if (!smallest || store.knows(smallest->signature)) return false;
  minimize(start,
           [&](const Case& c) {
             std::optional<Crash> crash = crash_alone(c, worker);
             if (!crash || crash->signature != smallest->signature) return false;
             smallest = std::move(crash);
             return true;
           },
           {.max_trials = minimize_trials,
            .deadline = std::chrono::steady_clock::now() + minimize_time});
  return store.claim(smallest->signature, smallest->reproducer);
}

bool still_fails(const std::filesystem::path& reproducer, const WorkerOptions& worker) {
  const Ending ending = WorkerProcess({"replay", reproducer.string(), "--kernel",
                                       worker.kernel.string(), "--device", worker.device.text()},
                                      WorkDirectory{worker.work}.logs() / "recheck.log")
                            .wait();
  return ending.by_signal || ending.code != exit_clean;
}

}  // namespace warpfuzz
