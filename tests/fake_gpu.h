// The warpfuzz command of this build on the driver without a GPU (cuda_fake_driver.cc).
#pragma once

#include <stdlib.h>

#include <string>
#include <vector>

#include "tests/command.h"

namespace warpfuzz::test {

// For its lifetime, programs that this process starts find the fake driver.
class FakeGpu {
 public:
  FakeGpu() { setenv("LD_LIBRARY_PATH", WARPFUZZ_FAKE_DRIVER_DIRECTORY, 1); }
  ~FakeGpu() { unsetenv("LD_LIBRARY_PATH"); }
  FakeGpu(const FakeGpu&) = delete;
  FakeGpu& operator=(const FakeGpu&) = delete;
};

inline ProcessResult on_fake_gpu(const std::vector<std::string>& arguments) {
  const FakeGpu gpu;
  return warpfuzz_command(arguments);
}

}  // namespace warpfuzz::test
