// Runs a program to its end without a shell: argument vector in, exit status and both outputs out,
// with a limit on its time.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace warpfuzz {

struct ProcessResult {
  int exit_code = 0;  // 128 + the signal if a signal ended it
  bool timed_out = false;
  std::string output;  // standard output
  std::string errors;  // standard error
};

// `arguments[0]` is looked up in PATH. Standard input is empty. When the time is over the program
// and its children are killed. Throws std::system_error if the program cannot be started.
ProcessResult run_process(const std::vector<std::string>& arguments,
                          std::chrono::milliseconds time_limit);

}  // namespace warpfuzz
