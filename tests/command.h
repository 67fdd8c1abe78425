// Runs the warpfuzz command of this build, for end-to-end tests.
#pragma once

#include <string>
#include <vector>

#include "fuzzers/temporary_directory.h"
#include "kernels/subprocess.h"

namespace warpfuzz::test {

inline ProcessResult warpfuzz_command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), WARPFUZZ_COMMAND);
  return run_process(arguments, std::chrono::minutes(10));
}

using warpfuzz::TemporaryDirectory;

}  // namespace warpfuzz::test
