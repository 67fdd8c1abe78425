// The counters that instrumented device code sets: read and cleared around each run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "kernels/cuda/session.h"

namespace warpfuzz::cuda {

class CoverageCounters {
 public:
  // `locate` is the object's warpfuzz_cuda_coverage, nullptr for none. Throws KernelError.
  CoverageCounters(const Session& session, int (*locate)(uint64_t* address, uint64_t* bytes),
                   const std::filesystem::path& object);
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
