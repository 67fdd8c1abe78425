// Compiles and runs kernels of the operator y[n] = f(x[n], kernel) on the CPU device, with the
// instrumentation of this build. For simt_test.cc and simt_benchmark.cc.
#pragma once

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kernels/compile.h"
#include "kernels/device.h"
#include "kernels/memory_image.h"
#include "schemas/case.h"
#include "tests/build_kind.h"

namespace warpfuzz {

inline std::unique_ptr<Kernel> load_source(const std::filesystem::path& source,
                                           const Instrumentation& instrumentation) {
  CompileRequest request;
  request.source = source;
  request.instrumentation = instrumentation;
  request.cache_directory = std::filesystem::temp_directory_path() / "warpfuzz-simt-tests";
  request.include_directory = WARPFUZZ_SOURCE_DIR "/kernels/simt/include";
  request.kernel_directory = WARPFUZZ_SOURCE_DIR "/kernels";
  return make_cpu_device()->load(compile_for_cpu(request), nullptr);
}

inline Instrumentation build_instrumentation() {
  Instrumentation instrumentation;
  instrumentation.coverage = false;  // no libFuzzer in these binaries
  instrumentation.address = instrumentation.undefined = sanitized;
  return instrumentation;
}

inline std::shared_ptr<const Schema> vector_schema() {
  auto schema = std::make_shared<Schema>();
  schema->name = "vector";
  Axis n;
  n.name = "n";
  n.maximum = 1 << 20;
  schema->axes = {n};
  schema->dtype_variables = {"T"};
  schema->dtype_combinations = {{{DType::float32}, Tier::everyday}};
  Attribute kernel;
  kernel.name = "kernel";
  kernel.kind = AttributeKind::integer;
  schema->attributes = {kernel};
  TensorSpec tensor;
  tensor.name = "x";
  tensor.axes = {0};
  schema->inputs = {tensor};
  tensor.name = "y";
  schema->outputs = {tensor};
  return schema;
}

// One call: x[i] = scale * (i + 1).
class VectorCall {
 public:
  VectorCall(int kernel, int64_t n, float scale = 1) {
    case_.schema = vector_schema();
    case_.axes = {n};
    case_.attributes.resize(1);
    case_.attributes[0].integer = kernel;
    case_.inputs.resize(1);
    case_.outputs.resize(1);
    input_.shape = {n};
    input_.data.resize(static_cast<size_t>(n) * sizeof(float));
    std::vector<float> values(static_cast<size_t>(n));
    for (size_t i = 0; i < values.size(); ++i) values[i] = scale * static_cast<float>(i + 1);
    std::memcpy(input_.data.data(), values.data(), input_.data.size());
    compose();
  }

  void compose() { image_.compose(case_, {&input_, 1}, 0, nan_fill, 0); }
  RunResult run(Kernel& kernel, const RunOptions& options = {}) {
    return kernel.run(case_, image_, options);
  }
  std::vector<float> output() const {
    const Tensor tensor = image_.gather_output(0);
    std::vector<float> values(tensor.data.size() / sizeof(float));
    std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
    return values;
  }
  const MemoryImage& image() const { return image_; }
  std::vector<Damage> damage() const { return image_.find_damage({&input_, 1}); }

 private:
  Case case_;
  Tensor input_;
  MemoryImage image_;
};

}  // namespace warpfuzz
