#include "kernels/cuda/kernel_object.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "kernels/device.h"

namespace warpfuzz::cuda {

KernelObject load_kernel_object(const std::filesystem::path& path) {
  KernelObject object;
  object.path = std::filesystem::absolute(path);
  const std::string name = object.path.string();
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) throw KernelError(fmt::format("{}: {}", name, dlerror()));
  const auto resolve = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, symbol));
  };
  resolve(object.entry, "warpfuzz_kernel");
  if (object.entry == nullptr) {
    throw KernelError(
        fmt::format("{}: does not export warpfuzz_kernel; expected extern \"C\" WfStatus "
                    "warpfuzz_kernel(const WfCall*)",
                    name));
  }
  resolve(object.workspace, "warpfuzz_workspace");
  resolve(object.preconditions, "warpfuzz_preconditions");
  resolve(object.begin, "warpfuzz_cuda_begin");
  resolve(object.end, "warpfuzz_cuda_end");
  resolve(object.coverage, "warpfuzz_cuda_coverage_bits");
  resolve(object.coverage_map, "warpfuzz_cuda_coverage_map");
  if (object.begin == nullptr && dlsym(handle, "wf_launch") != nullptr) {
    throw KernelError(
        fmt::format("{}: is built for the CPU device; build it for --device cuda", name));
  }
  return object;
}

}  // namespace warpfuzz::cuda
