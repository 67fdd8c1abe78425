// Runs a whole CUDA program - a .cu with main(), compiled into a shared object - in this process on
// the CPU device. Its output is its own; where it breaks a rule of CUDA or of C++ it is reported
// and goes on as far as it can.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernels/device.h"

namespace warpfuzz {

// The process has what objects with AddressSanitizer need.
bool address_sanitizer_present();

struct ProgramResult {
  // As of a process: what main returned or exit() got; 134 after abort() or an uncaught exception.
  int exit_code = 0;
  std::vector<Fault> faults;  // with positions; at most max_faults, in order
  std::string ended_by;       // "abort()" or "an exception: ...", empty if it just ended
  // Text of the last CUDA error if the program never asked for it, empty otherwise.
  std::string unnoticed_error;
  size_t unwatched_bytes = 0;  // of its memory, that the race mode had no room to watch
};

// `arguments[0]` is the program's name. No time limit if it is zero. Throws KernelError for an
// object without main(). At most once in a process.
ProgramResult run_program(const std::filesystem::path& object, std::vector<std::string> arguments,
                          const RunOptions& options);

}  // namespace warpfuzz
