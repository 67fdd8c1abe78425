#include "fuzzers/crash_triage.h"

#include <fmt/format.h>

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

// Runs one case in a process of its own, storing nothing.
Ending run_alone(const Case& c, const WorkerOptions& worker) {
  const WorkDirectory work{worker.work};
  const std::filesystem::path file = work.artifacts() / "alone";
  replace_file(file, encode(c));
  WorkerOptions alone = worker;
  alone.work.clear();
  alone.keep_going = true;  // a violation is no crash
  std::vector<std::string> arguments = {
      file.string(), "-timeout=60", "-rss_limit_mb=0", "-detect_leaks=0",
      fmt::format("-artifact_prefix={}/", work.artifacts().string())};
  for (std::string& argument : engine_arguments(alone)) arguments.push_back(std::move(argument));
  const cuda::OutsideMps outside;
  return WorkerProcess(arguments, work.logs() / "alone.log").wait();
}

// A process that could not use the device says nothing of the case.
bool crashed(const Ending& ending) {
  if (ending.by_signal) return true;
  return ending.code != 0 && ending.code != broken_exit_code && ending.code != exit_environment;
}

}  // namespace

bool triage_crash(std::span<const uint8_t> bytes, const WorkerOptions& worker,
                  const Ending& ending) {
  const auto schema = Installation::find().schema(worker.op);
  const Case start = decode(schema, bytes, worker.limits);
  const Signature signature = crash_signature(start);
  SignatureStore store(WorkDirectory{worker.work}.findings());
  if (store.knows(signature) || !crashed(run_alone(start, worker))) return false;
  const MinimizeResult minimized =
      minimize(start,
               [&](const Case& c) {
                 return crash_signature(c) == signature && crashed(run_alone(c, worker));
               },
               {.max_trials = minimize_trials,
                .deadline = std::chrono::steady_clock::now() + minimize_time});
  KernelIdentity identity;
  identity.name = worker.kernel.stem().string();
  identity.path = project_path(worker.kernel);
  return store.claim(signature, make_crash_reproducer(minimized.smallest, worker.limits, identity,
                                                      worker.device.text(), ending.text()));
}

bool still_fails(const std::filesystem::path& reproducer, const WorkerOptions& worker) {
  const Ending ending = WorkerProcess({"replay", reproducer.string(), "--kernel",
                                       worker.kernel.string(), "--device", worker.device.text()},
                                      WorkDirectory{worker.work}.logs() / "recheck.log")
                            .wait();
  return ending.by_signal || ending.code != exit_clean;
}

}  // namespace warpfuzz
