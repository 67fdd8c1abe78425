// Where the bytes of a memory image lie while a kernel runs on them: pinned host memory that the
// device can reach, and device memory of the same size. Small images stay in the first (no copies),
// larger ones are copied to the second and back, one copy each way. Grows, never shrinks.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/cuda/session.h"

namespace warpfuzz::cuda {

class Transfer {
 public:
  explicit Transfer(const Session& session) : session_(session) {}
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Queues what brings the bytes to where the kernel will find them; base() is that address.
  Status send(std::span<const std::byte> bytes, bool mapped);
  DevicePointer base() const { return base_; }
  // Queues the way back; after the stream has been waited for, collect() copies to `bytes`.
  Status fetch();
  void collect(std::span<std::byte> bytes) const;

 private:
  Status reserve(size_t bytes);
  void release();
  Status clear_rest(bool mapped);

  const Session& session_;
  std::byte* host_ = nullptr;
  DevicePointer host_on_device_ = 0;
  DevicePointer device_ = 0;
  DevicePointer base_ = 0;
  size_t capacity_ = 0;
  size_t size_ = 0;
  bool mapped_ = false;
  size_t dirty_host_ = 0;  // bytes that an earlier image has written
  size_t dirty_device_ = 0;
};

}  // namespace warpfuzz::cuda
