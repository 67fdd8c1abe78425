#include "fuzzers/crash_triage.h"

#include <fmt/format.h>

#include <optional>

#include "crashes/durable_file.h"
#include "crashes/minimizer.h"
#include "crashes/signature_store.h"
#include "fuzzers/engine.h"
#include "fuzzers/finding.h"
#include "fuzzers/installation.h"
#include "kernels/cuda/mps.h"
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

// Runs one case in a process of its own, keeping nothing of it: what it ended with, if that was not
// well. A process that could not use the device says nothing of the case.
std::optional<Crash> run_alone(const Case& c, const WorkerOptions& worker) {
  const WorkDirectory work{worker.work};
  const std::filesystem::path file = work.artifacts() / "alone";
  replace_file(file, encode(c));
  WorkerOptions alone = worker;
  alone.work.clear();
  alone.alone = work.artifacts() / "alone.finding";
  alone.keep_going = true;  // a violation is no crash
  std::filesystem::remove(alone.alone);
  std::vector<std::string> arguments = {
      file.string(), "-timeout=60", "-rss_limit_mb=0", "-detect_leaks=0",
      fmt::format("-artifact_prefix={}/", work.artifacts().string())};
  for (std::string& argument : engine_arguments(alone)) arguments.push_back(std::move(argument));
  const cuda::OutsideMps outside;
  const Ending ending = WorkerProcess(arguments, work.logs() / "alone.log").wait();
  const bool silent = !ending.by_signal && (ending.code == 0 || ending.code == broken_exit_code ||
                                            ending.code == exit_environment);
  if (silent) return std::nullopt;
  if (!std::filesystem::exists(alone.alone)) {
    return Crash{crash_signature(c),
                 make_crash_reproducer(c, worker.limits, identity_of(worker.kernel),
                                       worker.device.text(), ending.text())};
  }
  Reproducer told = read_reproducer(alone.alone);
  const auto signature = Signature::parse(told.signature);
  WARPFUZZ_CHECK(signature, "a finding with the signature '{}'", told.signature);
  return Crash{*signature, std::move(told)};
}

}  // namespace

bool triage_crash(std::span<const uint8_t> bytes, const WorkerOptions& worker) {
  const Case start = decode(Installation::find().schema(worker.op), bytes, worker.limits);
  SignatureStore store(WorkDirectory{worker.work}.findings());
  std::optional<Crash> smallest = run_alone(start, worker);
  if (!smallest || store.knows(smallest->signature)) return false;
  minimize(start,
           [&](const Case& c) {
             std::optional<Crash> crash = run_alone(c, worker);
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
