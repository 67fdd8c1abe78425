#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "fuzzers/command/commands.h"
#include "fuzzers/kernel_under_test.h"
#include "kernels/simt/program.h"

namespace warpfuzz {
namespace {

constexpr std::pair<std::string_view, Schedule> schedules[] = {{"sequential", Schedule::sequential},
                                                               {"reversed", Schedule::reversed},
                                                               {"random", Schedule::random}};

struct RunArguments {
  std::string source;
  std::string sanitize = "address";
  std::string schedule = "sequential";
  double time_limit = 300;
  RunOptions options;
  std::vector<std::string> include_directories, macros;
  std::vector<std::string> arguments;
};

Schedule find_schedule(const std::string& wanted) {
  for (const auto& [name, schedule] : schedules) {
    if (name == wanted) return schedule;
  }
  throw UsageError(fmt::format("--schedule {}: expected sequential, reversed or random", wanted));
}

std::string position(const std::string& file, int line) {
  return fmt::format("{}:{}", file.empty() ? "?" : shown_path(file), line);
}

std::string describe(const Fault& fault) {
  const auto thread = [](const Dim3& block, const Dim3& t) {
    return fmt::format("block ({},{},{}), thread ({},{},{})", block.x, block.y, block.z, t.x, t.y,
                       t.z);
  };
  std::string earlier;
  if (fault.earlier) {
    const EarlierAccess& access = *fault.earlier;
    earlier = fmt::format(", not ordered after the {} at {}", access.kind,
                          position(access.file, access.line));
    if (access.in_device_code) earlier += " by " + thread(access.block, access.thread);
  }
  return fmt::format("{}: {}: {}{} [{}]\n", position(fault.file, fault.line), name(fault.kind),
                     fault.message, earlier,
                     fault.in_device_code ? thread(fault.block, fault.thread) : "host code");
}

std::filesystem::path build_program(const RunArguments& a, const BuildMode& mode) {
  if (!std::filesystem::is_regular_file(a.source)) {
    throw UsageError(fmt::format("no such program: {}", a.source));
  }
  CompileRequest request = compile_request(Installation::find(), a.source, mode.instrumentation);
  for (const std::string& directory : a.include_directories) {
    request.extra_flags.push_back("-I" + directory);
  }
  for (const std::string& macro : a.macros) request.extra_flags.push_back("-D" + macro);
  return compile_for_cpu(request);
}

int run(const RunArguments& a) {
  RunOptions options = a.options;
  options.schedule = find_schedule(a.schedule);
  options.time_limit = std::chrono::milliseconds(std::llround(a.time_limit * 1000));
  const std::filesystem::path object = build_program(a, find_build_mode(a.sanitize));
  std::vector<std::string> arguments = {a.source};
  arguments.insert(arguments.end(), a.arguments.begin(), a.arguments.end());
  ProgramResult result;
  try {
    result = run_program(object, std::move(arguments), options);
  } catch (const KernelError& error) {
    throw UsageError(fmt::format("{}: {}", a.source, error.what()));
  }
  std::fflush(stdout);
  for (const Fault& fault : result.faults) fmt::print(stderr, "{}", describe(fault));
  if (result.faults.size() == max_faults) {
    fmt::print(stderr, "warpfuzz: the program was ended after {} reports\n", max_faults);
  }
  if (result.unwatched_bytes != 0) {
    fmt::print(stderr,
               "warpfuzz: the race mode had no room to watch {} bytes of the program's memory\n",
               result.unwatched_bytes);
  }
  if (!result.ended_by.empty()) {
    fmt::print(stderr, "warpfuzz: the program ended by {}\n", result.ended_by);
  }
  if (!result.unnoticed_error.empty()) {
    fmt::print(stderr, "warpfuzz: the program never asked for its last CUDA error: {}\n",
               result.unnoticed_error);
  }
  return result.faults.empty() ? result.exit_code : exit_findings;
}

}  // namespace

Command run_command(CLI::App& app) {
  auto a = std::make_shared<RunArguments>();
  CLI::App* sub = app.add_subcommand(
      "run", "Run a whole CUDA program (.cu with main) on the CPU device and report its faults");
  sub->add_option("program", a->source, "A .cu file")->required();
  sub->add_option("arguments", a->arguments, "What the program gets, after --");
  sub->add_option("--sanitize", a->sanitize,
                  "Checks of the program's memory: address, race or none")
      ->capture_default_str();
  sub->add_option("--schedule", a->schedule,
                  "Order of blocks and threads: sequential, reversed or random")
      ->capture_default_str();
  sub->add_option("--seed", a->options.schedule_seed, "Of the random schedule")
      ->capture_default_str();
  sub->add_option("--time-limit", a->time_limit, "Seconds of processor time; 0: none")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_option("-I", a->include_directories, "Directory of headers")->allow_extra_args(false);
  sub->add_option("-D", a->macros, "Macro, NAME or NAME=VALUE")->allow_extra_args(false);
  return {sub, [a] { return run(*a); }};
}

}  // namespace warpfuzz
