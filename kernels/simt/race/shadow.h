// What the race mode remembers of each watched piece of memory: who wrote it last and who read it.
//
// Memory is watched in ranges (the tensors of a call, shared memory, device variables, cudaMalloc).
// A range is divided into granules of the smallest size it has been accessed with, at most 4 bytes;
// each has one Cell of a cache line. Cells are never cleared: ticks grow from run to run, and what
// is older than the floor of its range is ordered before everything.
//
// Kept per granule: the last write, and four other accesses - the latest one (a read, or a strong
// write, since those do not order each other), and before it the latest of another lane of that
// warp, of another warp of that block, and of another block. A write meets at least one of all
// unordered accesses before it in these as long as order comes from barriers, whole-warp
// synchronisation, grid barriers and launches, which order all threads of a group alike. Where
// __syncwarp names part of a warp, or a fence orders some threads, an unordered read can hide
// behind later ordered ones; which do so depends on the schedule, so other schedules show it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "kernels/simt/fiber.h"
#include "kernels/simt/race/happens_before.h"

namespace warpfuzz::simt::race {

// What an access was, in the high bits of Record::site; the offset in the kernel's code is below.
inline constexpr uint32_t atomic_access = 1u << 31;
inline constexpr uint32_t volatile_access = 1u << 30;  // also the L2 accesses
inline constexpr uint32_t write_access = 1u << 29;
inline constexpr uint32_t async_access = 1u << 28;  // of a copy, when it is issued
inline constexpr uint32_t strong_access = atomic_access | volatile_access;
inline constexpr uint32_t site_offset = async_access - 1;

struct Record {
  Tick tick = 0;
  Actor actor = 0;
  uint32_t site = 0;
};

struct alignas(64) Cell {
  enum Flag : uint32_t {
    strong_writes = 1,    // there may be strong writes among the four
    several_writers = 2,  // threads other than the last writer have stored the same value
    in_flight = 4         // the last write is an asynchronous copy that nobody has waited for
  };
  Record write;
  Record latest;
  Record other_lane;
  Record other_warp;
  Record other_block;
  uint32_t flags = 0;

  // Makes the access the latest one, and what was the latest that of another lane, warp or block.
  void note(const Record& access) {
    const Actor apart = latest.actor ^ access.actor;
    if (apart != 0) {
      Record& displaced = apart < 32                  ? other_lane
                          : apart >> thread_bits == 0 ? other_warp
                                                      : other_block;
      displaced = latest;
    }
    latest = access;
  }
};
static_assert(sizeof(Cell) == 64);

enum class Memory : uint8_t {
  dynamic_shared,
  static_shared,
  inputs,
  outputs,
  variables,
  allocated
};
constexpr bool is_shared(Memory memory) { return memory <= Memory::static_shared; }

struct SavedCells {
  unsigned shift = 0;  // as in Range
  std::vector<Cell> cells;
};

struct Range {
  uintptr_t begin = 0;
  size_t bytes = 0;
  Cell* cells = nullptr;
  unsigned shift = 2;      // log2 of a granule's bytes
  Tick floor = 0;          // accesses up to this tick are ordered before everything
  Tick written_since = 0;  // a granule last written before this tick holds what nobody has written
  Tick watched_since = 0;  // what its cells say of earlier ticks is of other memory
  Memory memory = Memory::inputs;
  // The inputs, until something writes to them, which breaks MEM-03 whatever the order: their reads
  // need not be remembered.
  bool read_only = false;

  bool contains(uintptr_t address) const { return address - begin < bytes; }
  bool is_granule(uintptr_t address, size_t access_bytes) const {
    return access_bytes == size_t{1} << shift && address % access_bytes == 0;
  }
  Cell& cell(uintptr_t address) const { return cells[(address - begin) >> shift]; }
  size_t cell_count() const { return (bytes + (size_t{1} << shift) - 1) >> shift; }
  // Divides the granules until an access of these bytes is made of whole ones.
  void refine(uintptr_t address, size_t access_bytes);
  // The history as it was, though granules may have been divided since.
  SavedCells save() const { return {shift, {cells, cells + cell_count()}}; }
  void restore(const SavedCells& saved);

 private:
  // Cells of granules that are 2^finer times as large become those of the granules.
  void divide(const Cell* coarse, size_t count, unsigned finer);
};

// The ranges of a run: first the few that every run has, then what it allocates, by address.
class Shadow {
 public:
  // False if this machine does not give the address space: nothing can be watched.
  bool available();
  // A run starts with no ranges.
  void begin_run();
  // nullptr if there is no room for more. `granule`: of the accesses to expect, 1, 2 or 4 bytes.
  Range* watch(Memory memory, uintptr_t begin, size_t bytes, size_t granule);
  void unwatch(uintptr_t begin);
  // nullptr for what is not watched: local variables, above all.
  Range* find(uintptr_t address) {
    const auto stack = reinterpret_cast<uintptr_t>(fibers.current->bottom);
    if (address - stack < usable_stack_bytes) return nullptr;
    for (size_t i = 0; i < fixed_count_; ++i) {
      if (fixed_[i].contains(address)) return &fixed_[i];
    }
    if (recent_ != nullptr && recent_->contains(address)) return recent_;
    return allocated_.empty() ? nullptr : find_allocated(address);
  }
  template <class Visit>
  void for_each_range(Visit visit) {
    for (size_t i = 0; i < fixed_count_; ++i) visit(fixed_[i]);
    for (auto& [begin, range] : allocated_) visit(range);
  }
  std::span<Range> fixed() { return {fixed_, fixed_count_}; }
  // Bytes of this run that there was no room for.
  size_t unwatched_bytes() const { return unwatched_bytes_; }
  // Forgets all accesses.
  void clear();

 private:
  static constexpr size_t most_fixed = 8;
  Range* find_allocated(uintptr_t address);
  Cell* take_cells(size_t count);

  Range fixed_[most_fixed];
  size_t fixed_count_ = 0;
  std::map<uintptr_t, Range> allocated_;
  Range* recent_ = nullptr;  // of these, the one found last
  Cell* arena_ = nullptr;
  size_t used_ = 0;                          // cells
  std::multimap<size_t, Cell*> given_back_;  // by count
  size_t unwatched_bytes_ = 0;
};

}  // namespace warpfuzz::simt::race
