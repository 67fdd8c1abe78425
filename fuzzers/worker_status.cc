#include "fuzzers/worker_status.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace warpfuzz {

void CaseInFlight::begin(std::span<const uint8_t> encoded) {
  const size_t kept = std::min(encoded.size(), text.size());
  std::copy_n(encoded.begin(), kept, text.begin());
  bytes.store(static_cast<uint32_t>(kept), std::memory_order_release);
}

std::vector<uint8_t> CaseInFlight::read() const {
  // Another process wrote this: trust no length.
  const size_t length = std::min<size_t>(bytes.load(std::memory_order_acquire), text.size());
  return {text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length)};
}

std::vector<std::vector<uint8_t>> WorkerStatus::cases_in_flight() const {
  std::vector<std::vector<uint8_t>> cases;
  for (const CaseInFlight* c : {&ahead, &judged}) {
    std::vector<uint8_t> encoded = c->read();
    if (!encoded.empty() && (cases.empty() || cases.front() != encoded)) {
      cases.push_back(std::move(encoded));
    }
  }
  return cases;
}

void WorkerStatus::end() {
  judged.end();
  ahead.end();
}

MappedStatus::MappedStatus(const std::filesystem::path& file) {
  const auto fail = [&](const char* what) {
    throw std::system_error(errno, std::generic_category(), file.string() + ": " + what);
  };
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) fail("cannot create");
  // Allocated now: a full disk must be an error here, not a SIGBUS in the middle of a campaign.
  const int error = posix_fallocate(descriptor, 0, sizeof(WorkerStatus));
  if (error != 0) {
    close(descriptor);
    errno = error;
    fail("cannot allocate");
  }
  void* mapped =
      mmap(nullptr, sizeof(WorkerStatus), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (mapped == MAP_FAILED) fail("cannot map");
  status_ = static_cast<WorkerStatus*>(mapped);
}

MappedStatus::~MappedStatus() { munmap(status_, sizeof(WorkerStatus)); }

}  // namespace warpfuzz
