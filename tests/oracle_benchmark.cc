// Cost of the oracle: building the expectation and comparing a correct output, per element of the
// output (matmul, attention: also per multiply-add).
#include <benchmark/benchmark.h>

#include <algorithm>

#include "tests/honest_ops.h"
#include "tests/oracle_fixture.h"

namespace warpfuzz {
namespace {

using namespace testing_support;

struct Row {
  const char* name;
  std::string_view op;
  std::vector<int64_t> axes;
  std::vector<AttributeValue> attributes;
  HonestKernel kernel;
  double operations;  // multiply-adds; 0: elements
};

void measure(benchmark::State& state, const Row& row, DType type) {
  const Problem p = family_problem({row.op, type, type, row.axes, row.attributes},
                                   schema_of(row.op), families[0], 1);
  const Tensor observed = p.store(row.kernel(p).front().y);
  for (auto _ : state) {
    const Oracle oracle(p.c, p.inputs);
    benchmark::DoNotOptimize(oracle.compare(0, observed).worst_ratio);
  }
  const double elements = static_cast<double>(p.output.size());
  state.counters["ns/element"] = benchmark::Counter(
      elements * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  if (row.operations > 0) {
    state.counters["ns/mac"] =
        benchmark::Counter(row.operations * 1e-9, benchmark::Counter::kIsIterationInvariantRate |
                                                      benchmark::Counter::kInvert);
  }
}

const Row rows[] = {
    {"relu 4x200", "relu", {4, 200}, {}, honest_relu, 0},
    {"silu 4x200", "silu", {4, 200}, {}, honest_silu, 0},
    {"gelu erf 4x200", "gelu", {4, 200}, {{.integer = 0}}, honest_gelu, 0},
    {"gelu tanh 4x200", "gelu", {4, 200}, {{.integer = 1}}, honest_gelu, 0},
    {"softmax 4x200", "softmax", {4, 200}, {}, honest_softmax, 0},
    {"softmax 16x4096", "softmax", {16, 4096}, {}, honest_softmax, 0},
    {"softmax 512x2", "softmax", {512, 2}, {}, honest_softmax, 0},
    {"rmsnorm 4x200", "rmsnorm", {4, 200}, {{.real = 1e-5}}, honest_rmsnorm, 0},
    {"rmsnorm 16x4096", "rmsnorm", {16, 4096}, {{.real = 1e-5}}, honest_rmsnorm, 0},
    {"layernorm 4x200", "layernorm", {4, 200}, {{.real = 1e-5}}, honest_layernorm, 0},
    {"layernorm 16x4096", "layernorm", {16, 4096}, {{.real = 1e-5}}, honest_layernorm, 0},
    {"matmul 16x16x16", "matmul", {16, 16, 16}, {}, honest_matmul, 16 * 16 * 16},
    {"matmul 64x64x64", "matmul", {64, 64, 64}, {}, honest_matmul, 64 * 64 * 64},
    {"matmul 128x128x1024", "matmul", {128, 128, 1024}, {}, honest_matmul, 128. * 128 * 1024},
    {"attention 1x16x16x16",
     "attention",
     {1, 16, 16, 16},
     {{.integer = 0}},
     honest_attention,
     2 * 16 * 16 * 16},
    {"attention 2x64x64x64",
     "attention",
     {2, 64, 64, 64},
     {{.integer = 0}},
     honest_attention,
     2 * 2 * 64. * 64 * 64},
};

[[maybe_unused]] const bool registered = [] {
  for (const Row& row : rows) {
    for (const DType type : {DType::float32, DType::float16}) {
      const std::string label = std::string(row.name) + " " + std::string(name(type));
      benchmark::RegisterBenchmark(label.c_str(),
                                   [&row, type](benchmark::State& s) { measure(s, row, type); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace warpfuzz
