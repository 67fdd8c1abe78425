#include "kernels/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "kernels/device.h"

namespace warpfuzz::cuda {

std::string Driver::describe(Status status) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (error_name(status, &name) != success || error_string(status, &text) != success) {
    return fmt::format("CUDA error {}", status);
  }
  return fmt::format("{} ({})", text, name);
}

void Driver::check(Status status, const std::string& what) const {
  if (status != success) throw DeviceUnavailable(fmt::format("{}: {}", what, describe(status)));
}

Driver load_driver(const char* library) {
  Driver table;
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw DeviceUnavailable(fmt::format(
        "no CUDA driver on this machine ({}): an NVIDIA GPU is needed for --device cuda, bench and "
        "huge; the other commands run without one, on --device cpu",
        dlerror()));
  }
#define WARPFUZZ_FIND(symbol, name, parameters) \
  table.name = reinterpret_cast<decltype(table.name)>(dlsym(handle, #symbol));
  WARPFUZZ_CUDA_DRIVER_12_4(WARPFUZZ_FIND)
#define WARPFUZZ_RESOLVE(symbol, name, parameters)                                               \
  WARPFUZZ_FIND(symbol, name, parameters)                                                        \
  if (table.name == nullptr) {                                                                   \
    throw DeviceUnavailable(                                                                     \
        fmt::format("{} lacks {}: a CUDA driver of 12.0 or later is needed", library, #symbol)); \
  }
  WARPFUZZ_CUDA_DRIVER(WARPFUZZ_RESOLVE)
#undef WARPFUZZ_RESOLVE
#undef WARPFUZZ_FIND
  return table;
}

const Driver& driver() {
  static const Driver table = load_driver("libcuda.so.1");
  return table;
}

}  // namespace warpfuzz::cuda
