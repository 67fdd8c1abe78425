// Where the bytes of a memory image lie while a kernel runs on them: the image's own block, pinned
// host memory that the device can reach, or device memory of the same size. Small images stay in
// the first (no copies), larger ones are copied to the second, and brought back by the launch that
// ends a call (collector.h) or, the largest, by a copy. Grows, never shrinks.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "kernels/cuda/collector.h"
#include "kernels/cuda/session.h"
#include "kernels/memory_image.h"

namespace warpfuzz::cuda {

// Pinned host memory that the device can reach. Lives longer than the images in it. Any thread may
// use it.
class PinnedMemory final : public BlockSource {
 public:
  explicit PinnedMemory(const Session& session) : session_(session) {}

  // Throws DeviceUnavailable.
  std::byte* take(size_t bytes) override;
  void give_back(std::byte* block, size_t bytes) override;
  // The device's address of a block of this source.
  DevicePointer on_device(const std::byte* block) const;

 private:
  const Session& session_;
  mutable std::mutex mutex_;
  std::map<const std::byte*, DevicePointer> blocks_;
};

class Transfer {
 public:
  explicit Transfer(const Session& session) : session_(session), memory_(session) {}
  ~Transfer() { release(); }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Where images must lie that are sent.
  PinnedMemory& memory() { return memory_; }

  // Queues what brings the image to where the kernel will find it; base() is that address.
  Status send(MemoryImage& image, bool mapped);
  DevicePointer base() const { return base_; }
  // The way back of what was sent. Queues it where a copy is best: `rest` is what is left to do.
  Status fetch(MemoryImage& image, WayHome& rest);

 private:
  Status reserve(size_t bytes);
  void release();

  const Session& session_;
  PinnedMemory memory_;
  DevicePointer device_ = 0;
  DevicePointer base_ = 0;
  size_t capacity_ = 0;
  size_t dirty_ = 0;  // bytes of the device memory that the last image has written
};

}  // namespace warpfuzz::cuda
