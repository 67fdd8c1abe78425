#include "kernels/simt/host_api.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/simt/asan.h"
#include "kernels/simt/run.h"
#include "kernels/simt/shared_memory.h"

namespace warpfuzz::simt {

namespace {

constexpr size_t device_memory_bytes = size_t{1} << 30;

struct OptIn {
  const void* function;
  std::string kernel;  // name without template arguments; empty if it is not known
  size_t bytes;
};

struct HostApi {
  int last_error = 0;
  std::vector<OptIn> opt_ins;
  std::unordered_map<void*, size_t> allocations;
  size_t allocated = 0;
};

HostApi& api() {
  static HostApi state;
  return state;
}

// "ns::softmax<float, 4>(float*)" and "softmax<T, N>" give "softmax".
std::string base_name(std::string_view name) {
  name = name.substr(0, name.find_first_of("<("));
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  const size_t start = name.find_last_of(": &*");
  return std::string(start == std::string_view::npos ? name : name.substr(start + 1));
}

std::string function_name(const void* function) {
  Dl_info info;
  if (dladdr(function, &info) == 0 || info.dli_sname == nullptr || info.dli_saddr != function) {
    return {};
  }
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status), &std::free);
  if (status != 0) return info.dli_sname;
  std::string_view text = demangled.get();
  // Function templates are printed with their return type.
  if (text.starts_with("void ")) text.remove_prefix(5);
  return base_name(text);
}

}  // namespace

void begin_host_api_run() {
  api().last_error = 0;
  api().opt_ins.clear();
}

void set_message(std::string_view text, std::string_view detail) {
  set_text(run.message, "{}{}", text, detail);
}

size_t dynamic_shared_limit(const wf_simt::LaunchRequest& request) {
  size_t limit = default_shared_limit;
  if (api().opt_ins.empty()) return limit;
  const std::string name = base_name(request.name);
  for (const OptIn& opt_in : api().opt_ins) {
    const bool same = request.function != nullptr ? opt_in.function == request.function
                                                  : opt_in.kernel.empty() || opt_in.kernel == name;
    if (same) limit = std::max(limit, opt_in.bytes);
  }
  return limit;
}

namespace {

// Records an access of a runtime call that leaves the tensors or the shared memory.
void check_range(FaultKind kind, const void* begin, size_t bytes, void* caller) {
  void* bad = first_poisoned(begin, bytes);
  if (bad == nullptr) return;
  RawFault fault = make_fault(kind, nullptr, 0);
  set_text(fault.message, "a copy or fill of {} bytes leaves its buffer", bytes);
  fault.address = reinterpret_cast<uintptr_t>(bad);
  fault.bytes = static_cast<uint32_t>(bytes);
  fault.pc = reinterpret_cast<uintptr_t>(caller) - 1;
  report(fault);
}

}  // namespace

}  // namespace warpfuzz::simt

using namespace warpfuzz::simt;
using warpfuzz::FaultKind;

extern "C" {

int wf_set_error(int error, const char* text) {
  api().last_error = error;
  set_message(text, "");
  return error;
}

int wf_last_error(bool reset) {
  const int error = api().last_error;
  if (reset) api().last_error = 0;
  return error;
}

void* wf_allocate(size_t bytes) {
  HostApi& state = api();
  if (bytes > device_memory_bytes - state.allocated) return nullptr;
  void* memory = nullptr;
  if (posix_memalign(&memory, 256, bytes == 0 ? 1 : bytes) != 0) return nullptr;
  raw_fill(memory, 0xFF, bytes);
  state.allocations.emplace(memory, bytes);
  state.allocated += bytes;
  return memory;
}

bool wf_free(void* memory) {
  HostApi& state = api();
  const auto found = state.allocations.find(memory);
  if (found == state.allocations.end()) return false;
  state.allocated -= found->second;
  state.allocations.erase(found);
  std::free(memory);
  return true;
}

void wf_memory_info(size_t* free_bytes, size_t* total_bytes) {
  *free_bytes = device_memory_bytes - api().allocated;
  *total_bytes = device_memory_bytes;
}

void wf_copy(void* to, const void* from, size_t bytes) {
  check_range(FaultKind::out_of_bounds_read, from, bytes, __builtin_return_address(0));
  check_range(FaultKind::out_of_bounds_write, to, bytes, __builtin_return_address(0));
  const bool forward = to <= from || static_cast<const char*>(from) + bytes <= to;
  if (forward) {
    raw_copy(to, from, bytes);
    return;
  }
  for (size_t i = bytes; i-- > 0;) {
    static_cast<volatile char*>(to)[i] = static_cast<const char*>(from)[i];
  }
}

void wf_fill(void* to, int value, size_t bytes) {
  check_range(FaultKind::out_of_bounds_write, to, bytes, __builtin_return_address(0));
  raw_fill(to, static_cast<uint8_t>(value), bytes);
}

// cudaFuncSetAttribute(cudaFuncAttributeMaxDynamicSharedMemorySize).
bool wf_opt_in_dynamic_shared(const void* function, size_t bytes) {
  if (bytes > max_dynamic_shared_bytes) return false;
  api().opt_ins.push_back({function, function_name(function), bytes});
  return true;
}
}
