#include "kernels/simt/race/shadow.h"

#include <sys/mman.h>

#include <bit>

namespace warpfuzz::simt::race {

namespace {

// Address space, not memory: only what is accessed is backed. One cell per byte of 256 MiB.
constexpr size_t arena_bytes = size_t{16} << 30;
constexpr size_t arena_cells = arena_bytes / sizeof(Cell);

}  // namespace

// From the last one down, so that the coarse cells may be the range's own.
void Range::divide(const Cell* coarse, size_t count, unsigned finer) {
  for (size_t i = count; i-- > 0;) {
    const Cell cell = coarse[i];
    for (size_t part = 0; part < size_t{1} << finer; ++part) cells[(i << finer) + part] = cell;
  }
}

void Range::refine(uintptr_t address, size_t access_bytes) {
  const auto wanted = static_cast<unsigned>(std::countr_zero(address | access_bytes));
  if (wanted >= shift) return;
  divide(cells, cell_count(), shift - wanted);
  shift = wanted;
}

void Range::restore(const SavedCells& saved) {
  divide(saved.cells.data(), saved.cells.size(), saved.shift - shift);
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
