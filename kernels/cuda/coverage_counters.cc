#include "kernels/cuda/coverage_counters.h"

namespace warpfuzz::cuda {

namespace {

constexpr size_t word_bits = 32;

}  // namespace

CoverageCounters::CoverageCounters(const Session& session, const CounterArray& counters)
    : session_(session), count_(counters.count) {
  if (count_ == 0) return;
  home_.from = counters.address;
  home_.bytes = (count_ + word_bits - 1) / word_bits * sizeof *host_;
  const Driver& driver = session_.driver();
  void* host = nullptr;
  driver.check(driver.host_allocate(&host, home_.bytes, host_memory_mapped), "no pinned memory");
  host_ = static_cast<uint32_t*>(host);
  driver.check(driver.host_device_pointer(&home_.to, host, 0), "no address of pinned memory");
  driver.check(driver.fill(home_.from, 0, home_.bytes, session_.stream()),
               "the coverage counters cannot be cleared");
}

std::vector<uint8_t> CoverageCounters::values() const {
  std::vector<uint8_t> values(count_);
  for (size_t i = 0; i < count_; ++i) values[i] = host_[i / word_bits] >> i % word_bits & 1;
  return values;
}

CoverageCounters::~CoverageCounters() {
  if (host_ != nullptr) session_.driver().host_free(host_);
}

}  // namespace warpfuzz::cuda
