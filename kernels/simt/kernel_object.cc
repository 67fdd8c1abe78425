#include "kernels/simt/kernel_object.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "kernels/device.h"
#include "kernels/simt/elf_sections.h"

namespace warpfuzz::simt {

namespace {

// The head of ASan's description of a global: `bytes` without redzone. Fixed by ASan's ABI,
// version 8.
struct AsanGlobal {
  uintptr_t address;
  uintptr_t bytes;
  uintptr_t bytes_with_redzone;
  const char* name;
  const char* module_name;
  uintptr_t has_dynamic_init;
  const void* location;
  uintptr_t odr_indicator;
};

std::string readable(const std::string& symbol) {
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? demangled.get() : symbol;
}

// CUDA refuses a kernel with more than 48 KiB of static shared memory when it is compiled. Which
// kernel an array belongs to is not known here, so only arrays that are too large alone are found.
void check_static_shared(const ElfFile& file, const ElfSection& section, uintptr_t base,
                         const std::string& path) {
  std::map<uintptr_t, size_t> exact;
  const ElfSection globals = file.section("asan_globals");
  const auto* descriptions = reinterpret_cast<const AsanGlobal*>(base + globals.address);
  for (size_t i = 0; i < globals.bytes / sizeof(AsanGlobal); ++i) {
    exact[descriptions[i].address] = descriptions[i].bytes;
  }
  for (const ElfSymbol& symbol : file.symbols_in(section)) {
    const auto found = exact.find(base + symbol.address);
    const size_t bytes = found != exact.end() ? found->second : symbol.bytes;
    if (bytes > default_shared_limit) {
      throw KernelError(
          fmt::format("{}: the shared array {} has {} bytes; a kernel may have {} bytes of static "
                      "shared memory "
                      "(use dynamic shared memory and cudaFuncSetAttribute for more)",
                      path, readable(symbol.name), bytes, default_shared_limit));
    }
  }
}

}  // namespace

KernelObject load_kernel_object(const std::filesystem::path& path) {
  KernelObject object;
  object.path = std::filesystem::absolute(path);
  const std::string name = object.path.string();
  const ElfFile file(object.path);
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) throw KernelError(fmt::format("{}: {}", name, dlerror()));
  object.entry = reinterpret_cast<EntryPoint>(dlsym(handle, "warpfuzz_kernel"));
  if (object.entry == nullptr) {
    throw KernelError(
        fmt::format("{}: does not export warpfuzz_kernel; expected extern \"C\" WfStatus "
                    "warpfuzz_kernel(const WfCall*)",
                    name));
  }
  object.workspace =
      reinterpret_cast<decltype(object.workspace)>(dlsym(handle, "warpfuzz_workspace"));
  object.preconditions =
      reinterpret_cast<decltype(object.preconditions)>(dlsym(handle, "warpfuzz_preconditions"));
  const link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) {
    throw KernelError(fmt::format("{}: {}", name, dlerror()));
  }
  object.load_base = map->l_addr;
  const ElfSection code = file.code();
  object.code = {object.load_base + code.address, object.load_base + code.address + code.bytes};
  const ElfSection shared = file.section(".wfshared");
  object.shared = {reinterpret_cast<std::byte*>(object.load_base + shared.address), shared.bytes};
  if (shared.bytes != 0) check_static_shared(file, shared, object.load_base, name);
  return object;
}

}  // namespace warpfuzz::simt
