// The end of a call on the device: one launch of a kernel of ours brings the image and the coverage
// counters to the host and clears the counters for the next call. It stands for two copies and a
// fill, which cost a stream about 3 us each whatever their size.
#pragma once

#include <cstddef>

#include "kernels/cuda/session.h"

namespace warpfuzz::cuda {

// Bytes on the device, and the device's address of the pinned host memory that they go to.
struct WayHome {
  DevicePointer from = 0;
  DevicePointer to = 0;
  size_t bytes = 0;  // 0: nothing to bring
};

class Collector {
 public:
  // Throws DeviceUnavailable.
  explicit Collector(const Session& session);
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  // Queues it; the stream must be waited for. Addresses and sizes are multiples of 16 for the
  // image, of 4 for the counters.
  Status collect(const WayHome& image, const WayHome& counters) const;

 private:
  const Session& session_;
  ModuleHandle module_ = nullptr;
  FunctionHandle function_ = nullptr;
};

// The text of its module, for tests.
extern const char* const collector_ptx;

}  // namespace warpfuzz::cuda
