#include "fuzzers/alone.h"

#include <fmt/format.h>
#include <unistd.h>

#include "crashes/durable_file.h"
#include "fuzzers/engine.h"
#include "fuzzers/installation.h"
#include "kernels/cuda/mps.h"
#include "schemas/check.h"

namespace warpfuzz {
namespace {

constexpr std::chrono::minutes hang_limit{3};  // twice what libFuzzer's own timeout may take

}  // namespace

bool AloneResult::tells_nothing() const {
  return (hung && !finding) || (!ending.by_signal && (ending.code == broken_exit_code ||
                                                      ending.code == exit_environment));
}

AloneResult run_alone(const Case& c, const WorkerOptions& worker) {
  const WorkDirectory work{worker.work};
  // Others may try a case at the same time.
  const std::filesystem::path file = work.artifacts() / fmt::format("alone-{}", getpid());
  replace_file(file, encode(c));
  WorkerOptions alone = worker;
  alone.work.clear();
  alone.alone = file;
  alone.alone += ".finding";
  alone.keep_going = true;  // a violation does not end it
  std::filesystem::remove(alone.alone);
  std::vector<std::string> arguments = {
      file.string(), "-timeout=60", "-rss_limit_mb=0", "-detect_leaks=0",
      fmt::format("-artifact_prefix={}/", work.artifacts().string())};
  for (std::string& argument : engine_arguments(alone)) arguments.push_back(std::move(argument));
  const cuda::OutsideMps outside;
  WorkerProcess process(arguments, work.logs() / "alone.log");
  const bool ended = process.wait_or_kill(hang_limit);
  AloneResult result{.ending = process.wait(), .hung = !ended, .finding = {}};
  if (std::filesystem::exists(alone.alone)) result.finding = read_reproducer(alone.alone);
  std::filesystem::remove(alone.alone);
  std::filesystem::remove(file);
  return result;
}

}  // namespace warpfuzz
