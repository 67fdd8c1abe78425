// Where the counters that instrumented device code sets arrive after each run (collector.h).
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/collector.h"
#include "kernels/cuda/kernel_code.h"

namespace warpfuzz::cuda {

class CoverageCounters {
 public:
  // Clears them. Throws DeviceUnavailable where memory is short.
  CoverageCounters(const Session& session, const CounterArray& counters);
  ~CoverageCounters();
  CoverageCounters(const CoverageCounters&) = delete;
  CoverageCounters& operator=(const CoverageCounters&) = delete;

  size_t size() const { return count_; }
  const WayHome& way_home() const { return home_; }
  // Of the run whose counters came home last, a byte each.
  std::vector<uint8_t> values() const;

 private:
  const Session& session_;
  size_t count_;
  uint32_t* host_ = nullptr;
  WayHome home_;
};

}  // namespace warpfuzz::cuda
