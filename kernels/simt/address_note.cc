#include "kernels/simt/address_note.h"

#include <fmt/format.h>

#include "kernels/simt/device_memory.h"
#include "kernels/simt/kernel_limits.h"
#include "kernels/simt/run.h"
#include "kernels/simt/shared_memory.h"

namespace warpfuzz::simt {

namespace {

std::string missed(uintptr_t address, uintptr_t begin, size_t bytes, const std::string& what) {
  if (address < begin) return fmt::format("{} bytes before {}", begin - address, what);
  if (address < begin + bytes) return fmt::format("inside {}", what);
  return fmt::format("{} bytes past the end of {}", address - (begin + bytes), what);
}

const char* origin(MemoryType type) {
  switch (type) {
    case MemoryType::host:
      return "cudaMallocHost";
    case MemoryType::managed:
      return "cudaMallocManaged";
    default:
      return "cudaMalloc";
  }
}

}  // namespace

std::string address_note(uintptr_t address) {
  const auto arena = reinterpret_cast<uintptr_t>(wf_dynamic_shared);
  if (address >= arena && address < arena + max_dynamic_shared_bytes + dynamic_shared_slack) {
    const size_t bytes = shared_memory.dynamic_bytes();
    return missed(address, arena, bytes,
                  fmt::format("the {} bytes of dynamic shared memory", bytes));
  }
  if (const wf_simt::SharedRecord* variable = nearest_shared_variable(address)) {
    return missed(
        address, reinterpret_cast<uintptr_t>(variable->begin), variable->bytes,
        fmt::format("the shared variable {} of {} bytes", variable->name, variable->bytes));
  }
  // Elsewhere the tensors lie near, of which we know nothing.
  if (!run.program) return {};
  if (const Allocation* allocation = nearest_allocation(address)) {
    return missed(address, allocation->begin, allocation->bytes,
                  fmt::format("the {} bytes from {}{}", allocation->bytes, origin(allocation->type),
                              allocation->freed ? ", which were freed" : ""));
  }
  return {};
}

}  // namespace warpfuzz::simt
