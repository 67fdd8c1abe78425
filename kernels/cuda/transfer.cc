#include "kernels/cuda/transfer.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "schemas/check.h"

namespace warpfuzz::cuda {
namespace {

constexpr size_t smallest_capacity = size_t{1} << 20;
// A larger image comes home by a copy: the copy engine moves it faster than a kernel's stores.
constexpr size_t largest_collected = size_t{1} << 20;
// Behind the image, as in host memory: reads past its last guard find this, not what a larger image
// left there.
constexpr unsigned char beyond = 0xFF;

}  // namespace

std::byte* PinnedMemory::take(size_t bytes) {
  const Driver& driver = session_.driver();
  session_.use_here();
  void* block = nullptr;
  driver.check(driver.host_allocate(&block, bytes, host_memory_mapped), "no pinned memory");
  DevicePointer address = 0;
  driver.check(driver.host_device_pointer(&address, block, 0), "no address of pinned memory");
  const std::lock_guard lock(mutex_);
  blocks_[static_cast<std::byte*>(block)] = address;
  return static_cast<std::byte*>(block);
}

void PinnedMemory::give_back(std::byte* block, size_t) {
  {
    const std::lock_guard lock(mutex_);
    blocks_.erase(block);
  }
  session_.use_here();
  session_.driver().host_free(block);
}

DevicePointer PinnedMemory::on_device(const std::byte* block) const {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(block);
  WARPFUZZ_CHECK(found != blocks_.end(), "an image of {} outside image_memory()",
                 static_cast<const void*>(block));
  return found->second;
}

void Transfer::release() {
  if (device_ != 0) session_.driver().free(device_);
  device_ = base_ = 0;
  capacity_ = dirty_ = 0;
}

Status Transfer::reserve(size_t bytes) {
  if (bytes <= capacity_) return success;
  release();
  const size_t capacity = std::max(std::bit_ceil(bytes), smallest_capacity);
  const Driver& driver = session_.driver();
  if (const Status s = driver.allocate(&device_, capacity); s != success) return s;
  capacity_ = dirty_ = capacity;
  return success;
}

Status Transfer::send(MemoryImage& image, bool mapped) {
  const size_t size = image.bytes().size();
  const DevicePointer block = memory_.on_device(image.bytes().data());
  if (mapped) {
    base_ = block;
    return success;
  }
  if (const Status s = reserve(size); s != success) return s;
  base_ = device_;
  const Driver& driver = session_.driver();
  if (const size_t end = std::exchange(dirty_, size); end > size) {
    const Status s = driver.fill(device_ + size, beyond, end - size, session_.stream());
    if (s != success) return s;
  }
  return driver.copy_to_device(device_, image.bytes().data(), size, session_.stream());
}

Status Transfer::fetch(MemoryImage& image, WayHome& rest) {
  const size_t size = image.bytes().size();
  if (base_ != device_) return success;  // it never left
  if (size > largest_collected) {
    return session_.driver().copy_to_host(image.bytes().data(), device_, size, session_.stream());
  }
  rest = {device_, memory_.on_device(image.bytes().data()), size};
  return success;
}

}  // namespace warpfuzz::cuda
