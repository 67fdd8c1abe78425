// The subcommands of `warpfuzz`. Each adds itself to the command line and gives what to run when it
// was chosen. stdout is data, stderr is messages; exit codes are those of installation.h.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace warpfuzz {

struct Command {
  CLI::App* arguments;
  std::function<int()> run;
};

Command list_command(CLI::App& app);      // operators, kernels, gates
Command fuzz_command(CLI::App& app);      // a campaign on one kernel
Command run_command(CLI::App& app);       // runs a whole program
Command coverage_command(CLI::App& app);  // what a corpus does not reach
Command profile_command(CLI::App& app);   // the sizes of a kernel's errors
Command certify_command(CLI::App& app);   // the calibration matrix
Command bench_command(CLI::App& app);     // the speed of a kernel on a GPU
Command huge_command(CLI::App& app);      // calls of more than 2^31 elements, on a GPU
Command seed_command(CLI::App& app);      // writes a boundary corpus
Command replay_command(CLI::App& app);    // runs stored reproducers again
Command call_command(CLI::App& app);      // makes a stored call once, for other tools
Command minimize_command(CLI::App& app);  // makes a reproducer smaller
Command show_command(CLI::App& app);      // prints a reproducer or a case
Command doctor_command(CLI::App& app);    // what this machine has and lacks

}  // namespace warpfuzz
