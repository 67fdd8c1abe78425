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
  fixed_count_ = 0;
  allocated_.clear();
  recent_ = nullptr;
  used_ = 0;
  given_back_.clear();
  unwatched_bytes_ = 0;
}

// Cells of freed memory serve again if there are as many: they need not be cleared.
Cell* Shadow::take_cells(size_t count) {
  if (const auto found = given_back_.find(count); found != given_back_.end()) {
    Cell* const cells = found->second;
    given_back_.erase(found);
    return cells;
  }
  if (count > arena_cells - used_) return nullptr;
  Cell* const cells = arena_ + used_;
  used_ += count;
  return cells;
}

namespace {
// Enough for granules of one byte.
size_t cells_for(size_t bytes) { return bytes + 8; }
}  // namespace

Range* Shadow::watch(Memory memory, uintptr_t begin, size_t bytes, size_t granule) {
  if (bytes == 0) return nullptr;
  Cell* const cells = take_cells(cells_for(bytes));
  if (cells == nullptr) {
    unwatched_bytes_ += bytes;
    return nullptr;
  }
  Range& range = memory == Memory::allocated ? allocated_[begin] : fixed_[fixed_count_++];
  range = Range{};
  range.memory = memory;
  range.begin = begin;
  range.bytes = bytes;
  range.cells = cells;
  range.shift = static_cast<unsigned>(std::countr_zero(granule));
  return &range;
}

void Shadow::unwatch(uintptr_t begin) {
  const auto found = allocated_.find(begin);
  if (found == allocated_.end()) return;
  given_back_.emplace(cells_for(found->second.bytes), found->second.cells);
  if (recent_ == &found->second) recent_ = nullptr;
  allocated_.erase(found);
}

Range* Shadow::find_allocated(uintptr_t address) {
  const auto next = allocated_.upper_bound(address);
  if (next == allocated_.begin()) return nullptr;
  Range& range = std::prev(next)->second;
  if (!range.contains(address)) return nullptr;
  recent_ = &range;
  return &range;
}

// Gives the pages back; they read as zero again.
void Shadow::clear() { madvise(arena_, arena_bytes, MADV_DONTNEED); }

}  // namespace warpfuzz::simt::race
