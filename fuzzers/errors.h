// From exceptions to messages and exit codes, for every entry point: stderr says what, where and
// what to do; the exit code says whose matter it is (ExitCode in installation.h).
#pragma once

#include <functional>

namespace warpfuzz {

// Runs `body`; returns its result, or the exit code of the exception it threw.
int run_reporting_errors(const std::function<int()>& body);

}  // namespace warpfuzz
