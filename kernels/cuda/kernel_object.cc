#include "kernels/cuda/kernel_object.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/sendfile.h>

#include <cerrno>
#include <cstring>

#include "kernels/device.h"

namespace warpfuzz::cuda {

namespace {

// `loaded` is what the loader opens, `path` what it is called.
KernelObject load(const std::filesystem::path& path, const std::string& loaded) {
  KernelObject object;
  object.path = path;
  const std::string name = object.path.string();
  void* const handle = dlopen(loaded.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
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

}  // namespace

KernelObject load_kernel_object(const std::filesystem::path& path) {
  const std::filesystem::path absolute = std::filesystem::absolute(path);
  const int file = open(absolute.c_str(), O_RDONLY | O_CLOEXEC);
  KernelObject object = load(absolute, absolute.string());
  object.file = file;
  return object;
}

KernelObject load_copy(const KernelObject& object) {
  // Stays open: the loader knows an object by its name, and this number must not come again.
  const int copy = memfd_create("warpfuzz-kernel", MFD_CLOEXEC);
  off_t at = 0;
  ssize_t bytes = copy < 0 ? -1 : 1;
  while (bytes > 0) bytes = sendfile(copy, object.file, &at, 1 << 30);
  if (bytes < 0) {
    throw KernelError(
        fmt::format("{}: cannot be copied: {}", object.path.string(), strerror(errno)));
  }
  KernelObject loaded = load(object.path, fmt::format("/proc/self/fd/{}", copy));
  loaded.file = object.file;
  return loaded;
}

}  // namespace warpfuzz::cuda
