// <op>_fuzzer: a stand-alone libFuzzer binary for one operator, with the usual flags. Fuzzes the
// kernel of --kernel=FILE, by default the correct one of this project.
#include "fuzzers/engine.h"

int main(int argc, char** argv) {
  warpfuzz::WorkerOptions options;
  options.op = WARPFUZZ_OP;
  options.kernel = WARPFUZZ_SOURCE_DIR "/kernels/correct/" WARPFUZZ_OP ".cu";
  return warpfuzz::run_engine(argc, argv, std::move(options));
}
