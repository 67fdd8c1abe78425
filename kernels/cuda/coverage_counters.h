// The counters that instrumented device code sets: read and cleared around each run.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/cuda/kernel_code.h"
#include "kernels/cuda/session.h"

namespace warpfuzz::cuda {

class CoverageCounters {
 public:
  // Throws DeviceUnavailable where memory is short.
  CoverageCounters(const Session& session, const CounterArray& counters);
  ~CoverageCounters();
  CoverageCounters(const CoverageCounters&) = delete;
  CoverageCounters& operator=(const CoverageCounters&) = delete;

  // Queues reading and clearing: after the stream has been waited for, values() are of this run.
  Status fetch();
  // After a run that did not end well.
  void clear();
  std::span<const uint8_t> values() const { return {host_, size_}; }

 private:
  const Session& session_;
  uint8_t* host_ = nullptr;
  DevicePointer device_ = 0;
  size_t size_ = 0;
};

}  // namespace warpfuzz::cuda
