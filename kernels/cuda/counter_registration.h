// Hands counters of a device to libFuzzer as if they were edges of code: with made-up places, which
// no module of this process has. Only in processes that link libFuzzer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace warpfuzz::cuda {

// Registered for the rest of the process's life, so it must not be destroyed before its end.
class RegisteredCounters {
 public:
  // Before the first run. No effect without libFuzzer.
  explicit RegisteredCounters(size_t count);
  RegisteredCounters(const RegisteredCounters&) = delete;
  RegisteredCounters& operator=(const RegisteredCounters&) = delete;

  // Those of one run; libFuzzer clears them before the next.
  void add(std::span<const uint8_t> values);

 private:
  std::vector<uint8_t> counters_;
  std::vector<uintptr_t> places_;  // pairs of address and flags
};

}  // namespace warpfuzz::cuda
