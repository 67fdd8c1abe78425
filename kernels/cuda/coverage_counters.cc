#include "kernels/cuda/coverage_counters.h"

#include <cstring>

#include "kernels/device.h"

namespace warpfuzz::cuda {

CoverageCounters::CoverageCounters(const Session& session, const CounterArray& counters)
    : session_(session), device_(counters.address) {
  if (counters.bytes == 0) return;
  const Driver& driver = session_.driver();
  void* host = nullptr;
  driver.check(driver.host_allocate(&host, counters.bytes, host_memory_mapped), "no pinned memory");
  host_ = static_cast<uint8_t*>(host);
  std::memset(host_, 0, counters.bytes);
  driver.check(driver.fill(device_, 0, counters.bytes, session_.stream()),
               "the coverage counters cannot be cleared");
  size_ = counters.bytes;
}

CoverageCounters::~CoverageCounters() {
  if (host_ != nullptr) session_.driver().host_free(host_);
}

Status CoverageCounters::fetch() {
  if (size_ == 0) return success;
  const Driver& driver = session_.driver();
  if (const Status s = driver.copy_to_host(host_, device_, size_, session_.stream());
      s != success) {
    return s;
  }
  return driver.fill(device_, 0, size_, session_.stream());
}

void CoverageCounters::clear() {
  if (size_ != 0) std::memset(host_, 0, size_);
}

}  // namespace warpfuzz::cuda
