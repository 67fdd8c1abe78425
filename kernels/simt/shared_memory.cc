#include "kernels/simt/shared_memory.h"

#include "kernels/simt/asan.h"
#include "kernels/simt/include/wf_simt.h"

extern "C" {
alignas(1024) unsigned char wf_dynamic_shared[warpfuzz::simt::max_dynamic_shared_bytes +
                                              warpfuzz::simt::dynamic_shared_slack];
}

namespace warpfuzz::simt {

SharedMemory shared_memory;

void SharedMemory::set_dynamic_bytes(size_t bytes) {
  if (poisoned_ && bytes == dynamic_bytes_) return;
  if (!poisoned_) {
    poison(wf_dynamic_shared, sizeof wf_dynamic_shared);
    poisoned_ = true;
  } else if (bytes < dynamic_bytes_) {
    poison(wf_dynamic_shared + bytes, dynamic_bytes_ - bytes + 8);
  }
  unpoison(wf_dynamic_shared, bytes);
  dynamic_bytes_ = bytes;
}

void SharedMemory::fill(uint8_t byte) {
  if (section_.bytes != 0) raw_fill(section_.begin, byte, section_.bytes);
  if (dynamic_bytes_ != 0) raw_fill(wf_dynamic_shared, byte, dynamic_bytes_);
}

bool SharedMemory::contains(const void* address) const {
  const auto inside = [&](const void* begin, size_t bytes) {
    return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(begin) < bytes;
  };
  return inside(section_.begin, section_.bytes) || inside(wf_dynamic_shared, dynamic_bytes_);
}

void SharedMemoryCopy::save() {
  const StaticShared section = shared_memory.section();
  section_.resize(section.bytes);
  raw_copy(section_.data(), section.begin, section.bytes);
  dynamic_.resize(shared_memory.dynamic_bytes());
  raw_copy(dynamic_.data(), wf_dynamic_shared, dynamic_.size());
}

void SharedMemoryCopy::restore() const {
  raw_copy(shared_memory.section().begin, section_.data(), section_.size());
  raw_copy(wf_dynamic_shared, dynamic_.data(), dynamic_.size());
}

}  // namespace warpfuzz::simt
