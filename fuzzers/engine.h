// The libFuzzer driver: one process that fuzzes one operator. Used by `warpfuzz` for its workers
// and by the stand-alone <op>_fuzzer binaries. Our own options are `--name=value` arguments, which
// libFuzzer ignores and hands on to the processes it starts (merge, minimize_crash).
#pragma once

#include <string>

#include "fuzzers/worker.h"

namespace warpfuzz {

// Whether these arguments are for the driver: the first one is a libFuzzer flag (-runs=1) or a
// path.
bool is_engine_call(int argc, char** argv);

// Never returns normally: libFuzzer ends the process (0 done, 77 violation, 70 timeout, 71 memory,
// 72 interrupted; 2 or 3 for errors before the first run).
int run_engine(int argc, char** argv, WorkerOptions defaults);

// The arguments that give a worker these options.
std::vector<std::string> engine_arguments(const WorkerOptions& options);

}  // namespace warpfuzz
