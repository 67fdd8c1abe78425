#include "kernels/cuda/transfer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace warpfuzz::cuda {
namespace {

constexpr size_t smallest_capacity = size_t{1} << 20;
// Behind the image: reads past its last guard find this, not what a larger image left there.
constexpr unsigned char beyond = 0xFF;

}  // namespace

Transfer::~Transfer() { release(); }

void Transfer::release() {
  if (host_ != nullptr) session_.driver().host_free(host_);
  if (device_ != 0) session_.driver().free(device_);
  host_ = nullptr;
  device_ = host_on_device_ = base_ = 0;
  capacity_ = dirty_host_ = dirty_device_ = 0;
}

Status Transfer::reserve(size_t bytes) {
  if (bytes <= capacity_) return success;
  release();
  const size_t capacity = std::max(std::bit_ceil(bytes), smallest_capacity);
  const Driver& driver = session_.driver();
  void* host = nullptr;
  if (const Status s = driver.host_allocate(&host, capacity, host_memory_mapped); s != success) {
    return s;
  }
  host_ = static_cast<std::byte*>(host);
  if (const Status s = driver.host_device_pointer(&host_on_device_, host, 0); s != success)
    return s;
  if (const Status s = driver.allocate(&device_, capacity); s != success) return s;
  std::memset(host_, beyond, capacity);
  if (const Status s = driver.fill(device_, beyond, capacity, session_.stream()); s != success) {
    return s;
  }
  capacity_ = capacity;
  return success;
}

Status Transfer::clear_rest(bool mapped) {
  size_t& dirty = mapped ? dirty_host_ : dirty_device_;
  const size_t from = size_;
  const size_t to = std::exchange(dirty, size_);
  if (to <= from) return success;
  if (mapped) {
    std::memset(host_ + from, beyond, to - from);
    return success;
  }
  return session_.driver().fill(device_ + from, beyond, to - from, session_.stream());
}

Status Transfer::send(std::span<const std::byte> bytes, bool mapped) {
  if (const Status s = reserve(bytes.size()); s != success) return s;
  mapped_ = mapped;
  size_ = bytes.size();
  base_ = mapped ? host_on_device_ : device_;
  if (const Status s = clear_rest(mapped); s != success) return s;
  std::memcpy(host_, bytes.data(), size_);
  dirty_host_ = std::max(dirty_host_, size_);  // the host memory stages copies too
  if (mapped) return success;
  return session_.driver().copy_to_device(device_, host_, size_, session_.stream());
}

Status Transfer::fetch() {
  if (mapped_) return success;
  return session_.driver().copy_to_host(host_, device_, size_, session_.stream());
}

void Transfer::collect(std::span<std::byte> bytes) const {
  std::memcpy(bytes.data(), host_, std::min(bytes.size(), size_));
}

}  // namespace warpfuzz::cuda
