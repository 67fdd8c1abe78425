// The log of one kernel run: what went wrong, where, in which CUDA thread. Fixed memory, because
// entries are also made in signal handlers. An error that repeats at one place is one entry.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/device.h"

namespace warpfuzz::simt {

struct RawFault {
  FaultKind kind = FaultKind::wild_access;
  char message[160] = {};
  uintptr_t address = 0;
  uint32_t bytes = 0;
  const char* file = nullptr;  // static storage, or nullptr: see pc
  int line = 0;
  uintptr_t pc = 0;  // inside the instruction, not a return address
  Dim3 block, thread;
  bool in_device_code = false;
  // Of the earlier access of a data race.
  std::string_view earlier_access;
  uintptr_t earlier_pc = 0;
  Dim3 earlier_block, earlier_thread;
  bool earlier_in_device_code = true;
};

// fmt into a fixed, terminated text. The second form checks the format.
void set_text(std::span<char> text, fmt::string_view format, fmt::format_args args);
template <size_t N, class... Args>
void set_text(char (&text)[N], fmt::format_string<Args...> format, Args&&... args) {
  set_text(std::span<char>(text), format, fmt::make_format_args(args...));
}

class FaultLog {
 public:
  void clear() { count_ = 0; }
  // False if the log is full; a known place is not entered again.
  bool add(const RawFault& fault);
  bool full() const { return count_ == max_faults; }
  bool empty() const { return count_ == 0; }
  std::vector<Fault> faults() const;

 private:
  std::array<RawFault, max_faults> entries_;
  size_t count_ = 0;
};

}  // namespace warpfuzz::simt
