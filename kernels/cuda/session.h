// One process's use of one GPU: the primary context, which the CUDA runtime inside kernel objects
// shares, and a stream that spins while it waits. Exists once per device object and outlives its
// kernels.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "kernels/cuda/driver.h"

namespace warpfuzz::cuda {

class Session {
 public:
  // Throws DeviceUnavailable.
  explicit Session(int index);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Driver& driver() const { return driver_; }
  int index() const { return index_; }
  Stream stream() const { return stream_; }
  std::string device_name() const;
  // One of the attribute_... of driver.h; 0 where the driver does not know it.
  int attribute(int attribute) const;

  // Before a thread's calls of the driver; who made the session has done it.
  void use_here() const;

  // Waits until the stream has no work. `not_ready` if that lasts longer than the limit.
  Status wait(std::chrono::milliseconds limit) const;

 private:
  const Driver& driver_;
  int index_;
  uint64_t number_;  // in this process, from 1
  Ordinal device_ = 0;
  Context context_ = nullptr;
  Stream stream_ = nullptr;
};

// "sm_80", "sm_90a" of a device. Throws DeviceUnavailable.
std::string architecture_of(int index);

}  // namespace warpfuzz::cuda
