#include "kernels/cuda/coverage_counters.h"

#include <fmt/format.h>

#include <cstring>

#include "kernels/device.h"

namespace warpfuzz::cuda {

CoverageCounters::CoverageCounters(const Session& session,
                                   int (*locate)(uint64_t* address, uint64_t* bytes),
                                   const std::filesystem::path& object)
    : session_(session) {
  if (locate == nullptr) return;
  uint64_t bytes = 0;
  if (const int error = locate(&device_, &bytes); error != 0) {
    throw KernelError(
        fmt::format("{}: its device code does not load (CUDA error {}); is it built for this GPU's "
                    "architecture?",
                    object.string(), error));
  }
  if (bytes == 0) return;
  const Driver& driver = session_.driver();
  void* host = nullptr;
  driver.check(driver.host_allocate(&host, bytes, host_memory_mapped), "no pinned memory");
  host_ = static_cast<uint8_t*>(host);
  std::memset(host_, 0, bytes);
  driver.check(driver.fill(device_, 0, bytes, session_.stream()),
               "the coverage counters cannot be cleared");
  size_ = bytes;
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
