#include "kernels/simt/race/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/simt/device_memory.h"
#include "kernels/simt/elf_sections.h"
#include "kernels/simt/race/detector.h"
#include "kernels/simt/run.h"

namespace warpfuzz::simt::race {

namespace {

std::string symbol_at(const LoadedObject& object, uintptr_t address, size_t bytes,
                      std::string_view section, std::string_view what) {
  const ElfFile file(object.path);
  const uintptr_t offset = address - object.load_base;
  for (const ElfSymbol& symbol : file.symbols_in(file.section(section))) {
    if (offset < symbol.address || offset >= symbol.address + symbol.bytes) continue;
    const std::string name = source_name(symbol.name);
    const size_t inside = offset - symbol.address;
    if (symbol.bytes <= bytes) return fmt::format(" of {} variable {}", what, name);
    if (inside % bytes != 0) return fmt::format(" of byte {} of {} array {}", inside, what, name);
    return fmt::format(" of element {} of {} array {}", inside / bytes, what, name);
  }
  return {};
}

}  // namespace

std::string_view access_name(uint32_t site) {
  const bool write = (site & write_access) != 0;
  if ((site & async_access) != 0) {
    return write ? "write of an asynchronous copy" : "read of an asynchronous copy";
  }
  if ((site & atomic_access) != 0) return write ? "atomic write" : "atomic read";
  if ((site & volatile_access) != 0) return write ? "volatile write" : "volatile read";
  return write ? "write" : "read";
}

std::string variable_name(const LoadedObject& object, const Range& range, uintptr_t address,
                          size_t bytes) {
  switch (range.memory) {
    case Memory::static_shared:
      return symbol_at(object, address, bytes, ".wfshared", "shared");
    case Memory::variables: {
      const std::string name = symbol_at(object, address, bytes, ".data", "device");
      return name.empty() ? symbol_at(object, address, bytes, ".bss", "device") : name;
    }
    case Memory::dynamic_shared:
      return fmt::format(" of byte {} of dynamic shared memory", address - range.begin);
    case Memory::allocated: {
      const Allocation* const allocation = nearest_allocation(range.begin);
      const MemoryType type = allocation != nullptr ? allocation->type : MemoryType::device;
      return fmt::format(" of byte {} of {} from {}", address - range.begin, range.bytes,
                         type == MemoryType::host      ? "cudaMallocHost"
                         : type == MemoryType::managed ? "cudaMallocManaged"
                                                       : "cudaMalloc");
    }
    case Memory::inputs:
    case Memory::outputs:
      return {};
  }
  return {};
}

namespace {

// In a frame of its own: reporting a fault may leave the run and with it any object that owns
// memory.
void put_variable(RawFault& fault, std::string_view text, const LoadedObject& object,
                  const Range& range, const Access& access) {
  set_text(fault.message, "{}{}", text, variable_name(object, range, access.address, access.bytes));
  const bool tensor = range.memory == Memory::inputs || range.memory == Memory::outputs;
  fault.address = tensor ? access.address : 0;
  fault.bytes = static_cast<uint32_t>(access.bytes);
  fault.pc = access.pc;
  fault.in_device_code = true;
}

}  // namespace

std::string_view Detector::name_of(const Record& record) const {
  if (in_grid_ && record.tick >= launch_begin_) return access_name(record.site);
  const StreamOrder::Segment* const segment = streams_.segment_at(record.tick);
  if (segment == nullptr || segment->is_launch()) return access_name(record.site);
  const bool write = (record.site & write_access) != 0;
  if (segment->on_host()) return write ? "write on the host" : "read on the host";
  return write ? "write by a copy or fill" : "read by a copy";
}

void Detector::report_race(const Range& range, const Record& earlier, const Access& access,
                           const Record& now) {
  const uint64_t places = uint64_t{now.site} << 32 | earlier.site;
  if (std::find(reported_.begin(), reported_.end(), places) != reported_.end()) return;
  reported_.push_back(places);
  RawFault fault;
  fault.kind = FaultKind::data_race;
  put_variable(fault, name_of(now), *object_, range, access);
  fault.in_device_code = locate(now.actor, now.tick, fault.block, fault.thread);
  fault.earlier_pc = code_begin_ + (earlier.site & site_offset);
  fault.earlier_access = name_of(earlier);
  fault.earlier_in_device_code =
      locate(earlier.actor, earlier.tick, fault.earlier_block, fault.earlier_thread);
  report(fault);
}

void Detector::report_uninitialized(const Range& range, const Access& access) {
  const uint64_t place = record(access).site;
  if (uninitialized_ == most_uninitialized ||
      std::find(reported_.begin(), reported_.end(), place) != reported_.end()) {
    return;
  }
  ++uninitialized_;
  reported_.push_back(place);
  RawFault fault;
  fault.kind = FaultKind::uninitialized_read;
  put_variable(fault, "read, before anything was written there,", *object_, range, access);
  locate(actor(), order_.now(), fault.block, fault.thread);
  report(fault);
}

}  // namespace warpfuzz::simt::race
