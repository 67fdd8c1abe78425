// The CUDA device with its settings, for who measures or tests it; others use make_cuda_device().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device.h"

namespace warpfuzz::cuda {

struct DeviceOptions {
  int index = 0;
  // Images up to this size are not copied: the kernel works on pinned host memory.
  size_t mapped_limit = size_t{16} << 10;
  bool coverage = true;  // read and clear the device code's counters around each run
};

// Throws DeviceUnavailable.
std::unique_ptr<Device> make_device(const DeviceOptions& options);

// These take kernels of the devices of make_device().

// What the counters of RunResult::coverage mean, as JSON (ptx/coverage_map.h); "" if it has none.
std::string coverage_map(const Kernel& kernel);
// The integers that its device code compares with, as source_constants.h has those of a source.
std::vector<int64_t> compared_constants(const Kernel& kernel);

}  // namespace warpfuzz::cuda
