#include <fmt/format.h>

#include <array>

#include "fuzzers/command/commands.h"
#include "fuzzers/engine.h"
#include "fuzzers/errors.h"
#include "fuzzers/installation.h"

namespace warpfuzz {
namespace {

int run(int argc, char** argv) {
  // A worker, or a process that libFuzzer started from one: the driver's arguments, no subcommand.
  if (is_engine_call(argc, argv)) return run_engine(argc, argv, {});

  CLI::App app{"warpfuzz hunts for inputs on which a GPU kernel breaks its contract", "warpfuzz"};
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  const std::array commands = {list_command(app),     fuzz_command(app),     run_command(app),
                               coverage_command(app), profile_command(app),  certify_command(app),
                               bench_command(app),    huge_command(app),     seed_command(app),
                               replay_command(app),   minimize_command(app), call_command(app),
                               show_command(app),     doctor_command(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_clean : exit_usage;
  }
  for (const Command& command : commands) {
    if (command.arguments->parsed()) return run_reporting_errors(command.run);
  }
  return exit_usage;
}

}  // namespace
}  // namespace warpfuzz

int main(int argc, char** argv) { return warpfuzz::run(argc, argv); }
