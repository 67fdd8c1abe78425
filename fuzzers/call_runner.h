// Runs single calls of a kernel: composes the memory image, lets the kernel run on it and gathers
// what it left there. Judges nothing. Owns the image, which serves call after call.
#pragma once

#include <chrono>
#include <functional>
#include <span>

#include "gates/gate.h"
#include "kernels/device.h"
#include "schemas/case.h"

namespace warpfuzz {

class CallRunner {
 public:
  CallRunner(Kernel& kernel, std::chrono::milliseconds time_limit)
      : kernel_(kernel), time_limit_(time_limit), image_(kernel.image_memory()) {}

  // How the call is made.
  struct Manner {
    Probe probe = Probe::primary;
    uint32_t repetition = 0;            // of the probe: repetitions differ in their schedule
    Kernel* race_build = nullptr;       // runs the race check in the kernel's place
    std::function<void()> meanwhile{};  // RunOptions::meanwhile
  };
  // Outputs are gathered, nothing is compared yet.
  Observation run(const Case& c, std::span<const Tensor> inputs, Manner manner);

 private:
  void name_addresses(std::vector<Fault>& faults) const;

  Kernel& kernel_;
  std::chrono::milliseconds time_limit_;
  MemoryImage image_;
};

}  // namespace warpfuzz
