#include "kernels/simt/kernel_limits.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "kernels/simt/grid.h"
#include "kernels/simt/host_api.h"
#include "kernels/simt/shared_memory.h"

namespace warpfuzz::simt {

namespace {

using wf_simt::KernelRecord;
using wf_simt::SharedRecord;

// How far from a variable an access still counts as one that missed it.
constexpr uintptr_t near_bytes = 4096;

struct Limits {
  std::vector<std::span<const SharedRecord>> shared_records;
  std::unordered_map<const KernelRecord*, size_t> static_bytes;  // of kernels asked for so far
  std::unordered_map<const KernelRecord*, size_t> opt_ins;
  size_t anonymous_opt_in = 0;  // of kernels without record
};

Limits& limits() {
  static Limits state;
  return state;
}

size_t static_bytes(const KernelRecord& record) {
  const auto [entry, added] = limits().static_bytes.try_emplace(&record, 0);
  if (added) {
    for (const std::span<const SharedRecord> records : limits().shared_records) {
      for (const SharedRecord& variable : records) {
        if (variable.owner == &record) entry->second += variable.bytes;
      }
    }
  }
  return entry->second;
}

// Of a kernel without record.
size_t anonymous_dynamic_limit() {
  return std::max(default_shared_limit, limits().anonymous_opt_in);
}

size_t dynamic_limit(const KernelRecord& record) {
  const size_t used = std::min(static_bytes(record), default_shared_limit);
  const auto opt_in = limits().opt_ins.find(&record);
  return std::max(default_shared_limit - used,
                  opt_in != limits().opt_ins.end() ? opt_in->second : 0);
}

uintptr_t distance(const SharedRecord& variable, uintptr_t address) {
  const auto begin = reinterpret_cast<uintptr_t>(variable.begin);
  if (address < begin) return begin - address;
  return address < begin + variable.bytes ? 0 : address - (begin + variable.bytes);
}

}  // namespace

void add_shared_records(std::span<const SharedRecord> records) {
  limits().shared_records.push_back(records);
}

const SharedRecord* nearest_shared_variable(uintptr_t address) {
  const SharedRecord* nearest = nullptr;
  for (const std::span<const SharedRecord> records : limits().shared_records) {
    for (const SharedRecord& variable : records) {
      if (distance(variable, address) > near_bytes) continue;
      if (nearest == nullptr || distance(variable, address) < distance(*nearest, address)) {
        nearest = &variable;
      }
    }
  }
  return nearest;
}

void forget_opt_ins() {
  limits().opt_ins.clear();
  limits().anonymous_opt_in = 0;
}

int check_kernel_limits(const wf_simt::LaunchRequest& request, const KernelRecord& record) {
  const dim3 block = request.block;
  if (record.most_threads != 0 && block.x * block.y * block.z > record.most_threads) {
    return cuda_error_invalid_value;
  }
  return request.dynamic_shared_bytes > dynamic_limit(record) ? cuda_error_invalid_value
                                                              : cuda_success;
}

int check_dynamic_shared(const wf_simt::LaunchRequest& request) {
  return request.dynamic_shared_bytes > anonymous_dynamic_limit() ? cuda_error_invalid_value
                                                                  : cuda_success;
}

}  // namespace warpfuzz::simt

using namespace warpfuzz::simt;

extern "C" {

void wf_kernel_limits(const void* function, wf_simt::Context* context, bool enters,
                      wf_simt::KernelLimits* result) {
  const KernelRecord* record = enters ? grid.record_of(function, context) : nullptr;
  *result = {max_block_threads, 0, anonymous_dynamic_limit()};
  if (record == nullptr) return;
  if (record->most_threads != 0) result->most_threads = record->most_threads;
  result->static_shared_bytes = static_bytes(*record);
  result->dynamic_shared_bytes = dynamic_limit(*record);
}

// cudaFuncSetAttribute(cudaFuncAttributeMaxDynamicSharedMemorySize).
bool wf_opt_in_dynamic_shared(const void* function, wf_simt::Context* context, bool enters,
                              size_t bytes) {
  const KernelRecord* record = enters ? grid.record_of(function, context) : nullptr;
  const size_t used = record != nullptr ? static_bytes(*record) : 0;
  if (bytes > max_dynamic_shared_bytes || used > max_dynamic_shared_bytes - bytes) return false;
  if (record != nullptr) {
    limits().opt_ins[record] = bytes;
  } else {
    limits().anonymous_opt_in = bytes;
  }
  return true;
}
}
