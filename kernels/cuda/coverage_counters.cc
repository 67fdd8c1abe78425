#include "kernels/cuda/coverage_counters.h"

namespace warpfuzz::cuda {

CoverageCounters::CoverageCounters(const Session& session, const CounterArray& counters)
    : session_(session) {
  if (counters.bytes == 0) return;
  const Driver& driver = session_.driver();
  void* host = nullptr;
  driver.check(driver.host_allocate(&host, counters.bytes, host_memory_mapped), "no pinned memory");
  host_ = static_cast<uint8_t*>(host);
  home_ = {.from = counters.address, .to = 0, .bytes = counters.bytes};
  driver.check(driver.host_device_pointer(&home_.to, host, 0), "no address of pinned memory");
  driver.check(driver.fill(home_.from, 0, home_.bytes, session_.stream()),
               "the coverage counters cannot be cleared");
}

CoverageCounters::~CoverageCounters() {
  if (host_ != nullptr) session_.driver().host_free(host_);
}

}  // namespace warpfuzz::cuda
