// Compiles a kernel under a name of its own, for machines without compilers.
#include <fmt/format.h>

#include "kernels/cuda/huge_tensors.h"
#include "tests/gpu/commands.h"

namespace warpfuzz::gpu {

namespace fs = std::filesystem;

int build(const BuildArguments& a) {
  const fs::path cache = fs::absolute(a.object).parent_path() / ".cache";
  fs::path compiled;
  if (a.for_cpu) {
    CompileRequest request;
    request.source = a.source;
    request.kernel_directory = a.kernels;
    request.include_directory = fs::path(a.kernels) / "simt/include";
    request.cache_directory = cache;
    request.instrumentation = {.coverage = true, .address = false, .undefined = false};
    compiled = compile_for_cpu(request);
  } else {
    cuda::CompileRequest request;
    request.source = a.source;
    request.kernel_directory = a.kernels;
    request.cache_directory = cache;
    request.architecture = a.architecture;
    request.device_coverage = a.coverage;
    request.predicates = a.predicates;
    // Not a kernel under test: it has flags of its own.
    const std::string name = request.source.filename().string();
    compiled = name.starts_with("huge_") ? cuda::compile_huge(request, name.c_str())
                                         : cuda::compile_for_cuda(request);
  }
  fs::copy_file(compiled, a.object, fs::copy_options::overwrite_existing);
  return 0;
}

}  // namespace warpfuzz::gpu
