// Runs a piece of work in a forked child, so that whatever a kernel does there ends only the child.
#pragma once

#include <functional>
#include <string>

#include "fuzzers/worker_process.h"

namespace warpfuzz {

struct IsolatedResult {
  Ending ending;       // of the child; its exit code is what `work` returned
  std::string output;  // what it printed on stdout
};

// Exceptions of `work` are reported on stderr and become exit codes (errors.h).
IsolatedResult run_isolated(const std::function<int()>& work);

// What `question` returns in a forked child, or the KernelError or DeviceUnavailable that it throws
// there, thrown here. For what needs the CUDA driver: a process that has used it has no children
// that could. Throws KernelError too if the child ends.
std::string ask_isolated(const std::function<std::string()>& question);

}  // namespace warpfuzz
