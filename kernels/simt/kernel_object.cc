#include "kernels/simt/kernel_object.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "kernels/simt/elf_sections.h"
#include "kernels/simt/kernel_limits.h"
#include "kernels/simt/positions.h"
#include "kernels/simt/race/detector.h"

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
  // Not the stubs of calls to the runtime, which have no lines.
  object.code = range(file.section(".text"));
  object.image = range(file.image());
  for (const char* section : {".data", ".bss"}) {
    const ElfSection variables = file.section(section);
    if (variables.bytes == 0) continue;
    const uintptr_t begin = object.load_base + variables.address;
    if (object.variables.begin == 0) object.variables.begin = begin;
    object.variables.end = begin + variables.bytes;  // .bss lies last
    object.variable_sections.push_back(range(variables));
  }
  object.counters = range(file.section("__sancov_cntrs"));
  object.race = file.needs("__tsan_init");
  if (object.race && !race::detector.available()) {
    throw DeviceUnavailable(fmt::format(
        "{}: the race mode needs 16 GiB of address space, which this process may not have",
        object.path.string()));
  }
  const ElfSection shared = file.section(".wfshared");
  object.shared = {reinterpret_cast<std::byte*>(object.load_base + shared.address), shared.bytes};
  const ElfSection records = file.section(".wfsizes");
  add_shared_records({reinterpret_cast<const wf_simt::SharedRecord*>(range(records).begin),
                      records.bytes / sizeof(wf_simt::SharedRecord)});
  return object;
}

void resolve_positions(std::vector<Fault>& faults, const LoadedObject& object) {
  std::vector<std::pair<std::string*, int*>> unresolved;
  std::vector<uintptr_t> offsets;
  const auto resolve = [&](uintptr_t pc, std::string& file, int& line) {
    if (pc == 0 || !file.empty() || !object.code.contains(pc)) return;
    unresolved.emplace_back(&file, &line);
    offsets.push_back(pc - object.load_base);
  };
  for (Fault& fault : faults) {
    resolve(fault.pc, fault.file, fault.line);
    if (fault.earlier) resolve(fault.earlier->pc, fault.earlier->file, fault.earlier->line);
  }
  const auto positions = find_positions(object.path, offsets);
  for (size_t i = 0; i < unresolved.size(); ++i) {
    *unresolved[i].first = positions[i].file;
    *unresolved[i].second = positions[i].line;
  }
}

KernelObject load_kernel_object(const std::filesystem::path& path) {
  KernelObject object{load_object(path), {}};
  object.state = KernelState(object.variable_sections);
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
