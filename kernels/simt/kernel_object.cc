#include "kernels/simt/kernel_object.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "kernels/simt/elf_sections.h"
#include "kernels/simt/kernel_limits.h"
#include "kernels/simt/positions.h"

namespace warpfuzz::simt {

LoadedObject load_object(const std::filesystem::path& path) {
  LoadedObject object;
  object.path = std::filesystem::absolute(path);
  const std::string name = object.path.string();
  const ElfFile file(object.path);
  object.handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (object.handle == nullptr) throw KernelError(fmt::format("{}: {}", name, dlerror()));
  const link_map* map = nullptr;
  if (dlinfo(object.handle, RTLD_DI_LINKMAP, &map) != 0) {
    throw KernelError(fmt::format("{}: {}", name, dlerror()));
  }
  object.load_base = map->l_addr;
  const auto range = [&](const ElfSection& section) {
    const uintptr_t begin = object.load_base + section.address;
    return AddressRange{begin, begin + section.bytes};
  };
  object.code = range(file.code());
  object.image = range(file.image());
  const ElfSection shared = file.section(".wfshared");
  object.shared = {reinterpret_cast<std::byte*>(object.load_base + shared.address), shared.bytes};
  const ElfSection records = file.section(".wfsizes");
  add_shared_records({reinterpret_cast<const wf_simt::SharedRecord*>(range(records).begin),
                      records.bytes / sizeof(wf_simt::SharedRecord)});
  return object;
}

void resolve_positions(std::vector<Fault>& faults, const LoadedObject& object) {
  std::vector<Fault*> unresolved;
  std::vector<uintptr_t> offsets;
  for (Fault& fault : faults) {
    if (fault.pc == 0 || !fault.file.empty() || !object.code.contains(fault.pc)) continue;
    unresolved.push_back(&fault);
    offsets.push_back(fault.pc - object.load_base);
  }
  const auto positions = find_positions(object.path, offsets);
  for (size_t i = 0; i < unresolved.size(); ++i) {
    unresolved[i]->file = positions[i].file;
    unresolved[i]->line = positions[i].line;
  }
}

KernelObject load_kernel_object(const std::filesystem::path& path) {
  KernelObject object{load_object(path)};
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(object.handle, name));
  };
  find(object.entry, "warpfuzz_kernel");
  find(object.workspace, "warpfuzz_workspace");
  find(object.preconditions, "warpfuzz_preconditions");
  if (object.entry == nullptr) {
    throw KernelError(
        fmt::format("{}: does not export warpfuzz_kernel; expected extern \"C\" WfStatus "
                    "warpfuzz_kernel(const WfCall*)",
                    object.path.string()));
  }
  return object;
}

}  // namespace warpfuzz::simt
