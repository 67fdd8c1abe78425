#include "kernels/simt/faults.h"

#include <cstring>
#include <utility>

namespace warpfuzz {

std::string_view name(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds_read:
      return "out_of_bounds_read";
    case FaultKind::out_of_bounds_write:
      return "out_of_bounds_write";
    case FaultKind::misaligned_access:
      return "misaligned_access";
    case FaultKind::undefined_behavior:
      return "undefined_behavior";
    case FaultKind::divergent_barrier:
      return "divergent_barrier";
    case FaultKind::exit_before_barrier:
      return "exit_before_barrier";
    case FaultKind::exited_lane:
      return "exited_lane";
    case FaultKind::deadlock:
      return "deadlock";
    case FaultKind::time_limit:
      return "time_limit";
    case FaultKind::wild_access:
      return "wild_access";
    case FaultKind::illegal_launch:
      return "illegal_launch";
    case FaultKind::data_race:
      return "data_race";
    case FaultKind::uninitialized_read:
      return "uninitialized_read";
  }
  return "unknown";
}

namespace simt {

namespace {

bool same_place(const RawFault& a, const RawFault& b) {
  if (a.kind != b.kind || a.line != b.line || a.earlier_pc != b.earlier_pc) return false;
  if (a.file == nullptr || b.file == nullptr) return a.file == b.file && a.pc == b.pc;
  return a.file == b.file || std::strcmp(a.file, b.file) == 0;
}

}  // namespace

void set_text(std::span<char> text, fmt::string_view format, fmt::format_args args) {
  *fmt::vformat_to_n(text.data(), text.size() - 1, format, args).out = 0;
}

bool FaultLog::add(const RawFault& fault) {
  for (size_t i = 0; i < count_; ++i) {
    if (same_place(entries_[i], fault)) return true;
  }
  if (full()) return false;
  entries_[count_++] = fault;
  return true;
}

std::vector<Fault> FaultLog::faults() const {
  std::vector<Fault> result;
  for (size_t i = 0; i < count_; ++i) {
    const RawFault& raw = entries_[i];
    Fault fault;
    fault.kind = raw.kind;
    fault.message = raw.message;
    fault.address = raw.address;
    fault.bytes = raw.bytes;
    if (raw.file != nullptr) {
      fault.file = raw.file;
      fault.line = raw.line;
    } else {
      fault.pc = raw.pc;
    }
    fault.block = raw.block;
    fault.thread = raw.thread;
    fault.in_device_code = raw.in_device_code;
    if (raw.kind == FaultKind::data_race) {
      fault.earlier = {
          raw.earlier_access,        {}, 0, raw.earlier_pc, raw.earlier_block, raw.earlier_thread,
          raw.earlier_in_device_code};
    }
    result.push_back(std::move(fault));
  }
  return result;
}

}  // namespace simt
}  // namespace warpfuzz
