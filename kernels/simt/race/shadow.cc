#include "kernels/simt/race/shadow.h"

#include <sys/mman.h>

#include <bit>

namespace warpfuzz::simt::race {

namespace {

// Address space, not memory: only what is accessed is backed. One cell per byte of 256 MiB.
constexpr size_t arena_bytes = size_t{16} << 30;
constexpr size_t arena_cells = arena_bytes / sizeof(Cell);

}  // namespace

void Range::refine(uintptr_t address, size_t access_bytes) {
  const auto wanted = static_cast<unsigned>(std::countr_zero(address | access_bytes));
  if (wanted >= shift) return;
  const unsigned finer = shift - wanted;
  for (size_t i = (bytes + (size_t{1} << shift) - 1) >> shift; i-- > 0;) {
    const Cell coarse = cells[i];
    for (size_t part = 0; part < size_t{1} << finer; ++part) cells[(i << finer) + part] = coarse;
  }
  shift = wanted;
}

bool Shadow::available() {
  if (arena_ == nullptr) {
    void* memory = mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    arena_ = static_cast<Cell*>(memory);
  }
  return true;
}

void Shadow::begin_run() {
  count_ = 0;
  used_ = 0;
}

Range* Shadow::watch(Memory memory, uintptr_t begin, size_t bytes, size_t granule) {
  const size_t cells = bytes + 8;  // enough for granules of one byte
  if (bytes == 0 || count_ == most_ranges || cells > arena_cells - used_) return nullptr;
  Range& range = ranges_[count_++];
  range = Range{};
  range.memory = memory;
  range.begin = begin;
  range.bytes = bytes;
  range.cells = arena_ + used_;
  range.shift = static_cast<unsigned>(std::countr_zero(granule));
  used_ += cells;
  return &range;
}

void Shadow::unwatch(uintptr_t begin) {
  for (size_t i = 0; i < count_; ++i) {
    if (ranges_[i].begin != begin) continue;
    ranges_[i] = ranges_[--count_];
    return;
  }
}

// Gives the pages back; they read as zero again.
void Shadow::clear() { madvise(arena_, arena_bytes, MADV_DONTNEED); }

}  // namespace warpfuzz::simt::race
