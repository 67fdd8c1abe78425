#include "kernels/simt/device_memory.h"

#include <cstdlib>
#include <map>

#include "kernels/simt/asan.h"
#include "kernels/simt/host_api.h"
#include "kernels/simt/race/detector.h"
#include "kernels/simt/run.h"

namespace warpfuzz::simt {

namespace {

constexpr size_t device_memory_bytes = size_t{1} << 30;
constexpr uintptr_t near_bytes = 4096;

// Values of cudaMemcpyKind.
enum CopyKind : int { host_to_host, host_to_device, device_to_host, device_to_device, by_address };

struct DeviceMemory {
  std::map<uintptr_t, Allocation> allocations;  // by their begin, also those that were freed
  size_t allocated = 0;
};

DeviceMemory& memory() {
  static DeviceMemory state;
  return state;
}

uintptr_t to_address(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// The allocation that the address lies in.
const Allocation* find(const void* pointer) {
  const auto next = memory().allocations.upper_bound(to_address(pointer));
  if (next == memory().allocations.begin()) return nullptr;
  const Allocation& allocation = std::prev(next)->second;
  const bool inside = to_address(pointer) < allocation.begin + allocation.bytes;
  return inside && !allocation.freed ? &allocation : nullptr;
}

// The addresses are given out again.
void forget_freed(uintptr_t begin, size_t bytes) {
  auto& allocations = memory().allocations;
  auto at = allocations.lower_bound(begin);
  if (at != allocations.begin()) --at;
  while (at != allocations.end() && at->second.begin < begin + bytes) {
    const Allocation& old = at->second;
    const bool overlaps = old.freed && old.begin + old.bytes > begin;
    at = overlaps ? allocations.erase(at) : std::next(at);
  }
}

// Globals of the program may be __device__ or not.
bool only_on_host(const void* pointer) {
  return find(pointer) == nullptr && !run.image.contains(to_address(pointer));
}
bool only_on_device(const void* pointer) {
  const Allocation* allocation = find(pointer);
  return allocation != nullptr && allocation->type == MemoryType::device;
}
bool leaves_allocation(const void* pointer, size_t bytes) {
  const Allocation* allocation = find(pointer);
  return allocation != nullptr &&
         bytes > allocation->begin + allocation->bytes - to_address(pointer);
}

// Whole programs only: to a kernel under test every tensor is device memory, allocated or not.
bool wrong_side(const void* to, const void* from, int kind) {
  switch (kind) {
    case host_to_device:
      return only_on_host(to) || only_on_device(from);
    case device_to_host:
      return only_on_device(to) || only_on_host(from);
    case device_to_device:
      return only_on_host(to) || only_on_host(from);
    default:
      return false;
  }
}

// Copies between places on the device do not wait, asynchronous ones only for pageable memory.
bool host_waits_for_copy(const void* to, const void* from, bool asynchronous) {
  const Allocation* const target = find(to);
  const Allocation* const source = find(from);
  if (asynchronous) return target == nullptr || source == nullptr;
  return !only_on_device(to) || !only_on_device(from);
}

// Records an access of a runtime call that leaves the tensors or the shared memory. False if a GPU
// would refuse the call.
bool check_range(FaultKind kind, const void* begin, size_t bytes, void* caller) {
  const void* bad = first_poisoned(begin, bytes);
  const bool refused = leaves_allocation(begin, bytes);
  if (bad == nullptr && !refused) return true;
  RawFault fault = make_fault(kind, nullptr, 0);
  set_text(fault.message, "a copy or fill of {} bytes leaves its buffer", bytes);
  fault.address = to_address(bad != nullptr ? bad : begin);
  fault.bytes = static_cast<uint32_t>(bytes);
  fault.pc = to_address(caller) - 1;
  report(fault);
  return !refused;
}

}  // namespace

const Allocation* nearest_allocation(uintptr_t address) {
  const auto next = memory().allocations.upper_bound(address);
  if (next != memory().allocations.begin()) {
    const Allocation& before = std::prev(next)->second;
    if (address < before.begin + before.bytes + near_bytes) return &before;
  }
  const bool close =
      next != memory().allocations.end() && next->second.begin - address <= near_bytes;
  return close ? &next->second : nullptr;
}

}  // namespace warpfuzz::simt

using namespace warpfuzz::simt;
using warpfuzz::FaultKind;

extern "C" {

void* wf_allocate(size_t bytes, int type) {
  DeviceMemory& state = memory();
  if (bytes > device_memory_bytes - state.allocated) return nullptr;
  void* pointer = nullptr;
  if (posix_memalign(&pointer, 256, bytes) != 0) return nullptr;
  raw_fill(pointer, run.options.fill, bytes);
  const uintptr_t begin = to_address(pointer);
  forget_freed(begin, bytes);
  state.allocations[begin] = {.begin = begin,
                              .bytes = bytes,
                              .type = static_cast<MemoryType>(type),
                              .owner = run.code.begin};
  state.allocated += bytes;
  race::detector.allocated(pointer, bytes);
  return pointer;
}

bool wf_free(void* pointer, bool host) {
  DeviceMemory& state = memory();
  const auto found = state.allocations.find(to_address(pointer));
  if (found == state.allocations.end() || found->second.freed) return false;
  if ((found->second.type == MemoryType::host) != host) return false;
  state.allocated -= found->second.bytes;
  found->second.freed = true;
  race::detector.freed(pointer);
  std::free(pointer);
  return true;
}

void wf_memory_info(size_t* free_bytes, size_t* total_bytes) {
  *free_bytes = device_memory_bytes - memory().allocated;
  *total_bytes = device_memory_bytes;
}

int wf_memory_type(const void* pointer) {
  const Allocation* allocation = find(pointer);
  return static_cast<int>(allocation != nullptr ? allocation->type : MemoryType::unregistered);
}

int wf_copy(void* to, const void* from, size_t bytes, int kind, const void* stream,
            bool asynchronous) {
  if (kind < host_to_host || kind > by_address) return cuda_error_invalid_memcpy_direction;
  if (bytes == 0) return cuda_success;
  if (to == nullptr || from == nullptr) return cuda_error_invalid_value;
  if (run.program && wrong_side(to, from, kind)) return cuda_error_invalid_value;
  void* const caller = __builtin_return_address(0);
  const bool readable = check_range(FaultKind::out_of_bounds_read, from, bytes, caller);
  const bool writable = check_range(FaultKind::out_of_bounds_write, to, bytes, caller);
  if (!readable || !writable) return cuda_error_invalid_value;
  if (kind == device_to_device || kind == by_address) ++run.device_operations;
  race::detector.begin_operation(stream);
  race::detector.copied(to, from, bytes, to_address(caller) - 1);
  raw_move(to, from, bytes);
  race::detector.end_operation();
  if (host_waits_for_copy(to, from, asynchronous)) {
    race::detector.host_waits(race::Detector::Wait::for_last);
  }
  return cuda_success;
}

int wf_fill(void* to, int value, size_t bytes, const void* stream) {
  if (bytes == 0) return cuda_success;
  if (to == nullptr || (run.program && only_on_host(to))) return cuda_error_invalid_value;
  void* const caller = __builtin_return_address(0);
  if (!check_range(FaultKind::out_of_bounds_write, to, bytes, caller)) {
    return cuda_error_invalid_value;
  }
  ++run.device_operations;
  race::detector.begin_operation(stream);
  race::detector.filled(to, bytes, to_address(caller) - 1);
  raw_fill(to, static_cast<uint8_t>(value), bytes);
  race::detector.end_operation();
  return cuda_success;
}
}

namespace warpfuzz::simt {

void free_allocations_of(const AddressRange& code) {
  if (memory().allocated == 0) return;
  for (const auto& [begin, allocation] : memory().allocations) {
    if (allocation.freed || allocation.owner != code.begin) continue;
    wf_free(reinterpret_cast<void*>(begin), allocation.type == MemoryType::host);
  }
}

}  // namespace warpfuzz::simt
