// Which device a kernel runs on: "cpu", "cuda" or "cuda:N" on the command line and in reproducers.
#pragma once

#include <memory>
#include <string>

#include "kernels/device.h"

namespace warpfuzz {

inline constexpr size_t most_threads = 8;  // of a process; more do not shorten loops any further

struct DeviceChoice {
  bool cuda = false;
  int index = 0;  // among the CUDA devices that the process sees

  // Throws UsageError: "--device tpu: expected cpu, cuda or cuda:N".
  static DeviceChoice parse(const std::string& text);
  std::string text() const;
  // For each of so many processes that use the device: while a GPU works, its host is idle.
  size_t host_threads(size_t processes) const;
  // Throws DeviceUnavailable.
  std::unique_ptr<Device> open() const;
};

}  // namespace warpfuzz
