// Launches per second of typical kernels through the real path: compiled, loaded, run on an image.
// Each with the instrumentations that this build can run: ASan needs a sanitized executable.
//   scripts/build release simt_benchmark && build/release/tests/simt_benchmark
//   scripts/build asan simt_benchmark && build/asan/tests/simt_benchmark
// Rows are <instrumentation>/<kernel and shape>; their items_per_second are launches per second of
// processor time, on one thread. --benchmark_filter=race/softmax picks rows; where other work
// disturbs, --benchmark_repetitions=5 --benchmark_report_aggregates_only gives medians.
#include <benchmark/benchmark.h>

#include <string>

#include "tests/simt_benchmark_kernels.h"
#include "tests/simt_fixture.h"

// Coverage callbacks of kernels; the counters are inline.
extern "C" {
void __sanitizer_cov_8bit_counters_init(uint8_t*, uint8_t*) {}
void __sanitizer_cov_pcs_init(const uintptr_t*, const uintptr_t*) {}
}

namespace warpfuzz {
namespace {

struct Mode {
  const char* name;
  Instrumentation instrumentation;
  bool needs_asan;
};

const Mode modes[] = {
    {"optimized",
     {.coverage = false, .address = false, .undefined = false, .optimize = true},
     false},
    {"coverage", {.coverage = true, .address = false, .undefined = false}, false},
    {"race", {.coverage = false, .address = false, .undefined = false, .race = true}, false},
    {"race_coverage",
     {.coverage = true, .address = false, .undefined = false, .race = true},
     false},
    {"asan_coverage", {.coverage = true, .address = true, .undefined = false}, true},
    {"asan_ubsan_coverage", {.coverage = true, .address = true, .undefined = true}, true},
};

const struct {
  const char* name;
  BenchmarkKernel kernel;
} shapes[] = {
    {"vector_add_1000", benchmark_add},          {"softmax_4x1025_256", benchmark_softmax_256},
    {"softmax_4x1025_32", benchmark_softmax_32}, {"softmax_1x17_32", benchmark_softmax_small},
    {"matmul_65x63x129", benchmark_matmul},      {"layernorm_3x771_128", benchmark_layernorm},
    {"shuffle_1024x20", benchmark_shuffle},
};

void launch(benchmark::State& state, const Mode& mode, BenchmarkKernel kernel) {
  const auto loaded =
      load_source(WARPFUZZ_SOURCE_DIR "/tests/simt_benchmark_kernels.cu", mode.instrumentation);
  // Up to 4: exp() of the softmax must not underflow, which takes the C library much longer.
  VectorCall call(kernel, 16384, 0x1p-12f);
  for (auto _ : state) {
    const RunResult result = call.run(*loaded);
    if (result.status != RunStatus::ok) {
      state.SkipWithError("the kernel fails");
      break;
    }
  }
  state.SetItemsProcessed(state.iterations());
}

const bool registered = [] {
  for (const Mode& mode : modes) {
    // The race mode brings no runtime of its own, so every build has it.
    if (mode.needs_asan != sanitized && !mode.instrumentation.race) continue;
    for (const auto& shape : shapes) {
      const std::string name = std::string(mode.name) + "/" + shape.name;
      benchmark::RegisterBenchmark(name.c_str(), [&mode, &shape](benchmark::State& state) {
        launch(state, mode, shape.kernel);
      });
    }
  }
  return true;
}();

}  // namespace
}  // namespace warpfuzz
