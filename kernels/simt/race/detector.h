// The race mode of the CPU device. Kernels compiled with Instrumentation::race call __tsan_* before
// every access (callbacks.cc), and the runtime says which threads synchronise. The detector decides
// which accesses race and which read what nobody has written, and reports both as faults.
//
// A race: two accesses of a byte by different threads of a launch, or by launches, copies and host
// code that streams do not order (streams.h), not ordered (happens_before.h), at least one a write,
// not both strong. Not reported: a write that does not change what is there,
// as when all threads store the same value; and the plain load before a loop of atomicCAS on the
// same place, which the guide's example has. Reported although both are strong: volatile accesses
// of shared memory by lanes of one warp, the warp-synchronous style that needs __syncwarp since
// Volta.
//
// An uninitialised read: a load of a scalar of shared memory, of an output, of the workspace or of
// memory from cudaMalloc that nothing has written - in this block, or in this run. A struct that is
// copied from memory to memory is no load.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "kernels/memory_image.h"
#include "kernels/simt/faults.h"
#include "kernels/simt/include/wf_simt.h"
#include "kernels/simt/kernel_object.h"
#include "kernels/simt/race/happens_before.h"
#include "kernels/simt/race/shadow.h"
#include "kernels/simt/race/streams.h"

namespace warpfuzz::simt::race {

// An access as a callback sees it, before it happens.
struct Access {
  uintptr_t address = 0;
  size_t bytes = 0;
  uint32_t kind = 0;  // atomic_access, volatile_access, write_access, async_access
  uintptr_t pc = 0;
};

class Detector {
 public:
  // Whether this machine can run the mode at all.
  bool available() { return shadow_.available(); }
  // A kernel object of this mode runs.
  bool active() const { return active_; }
  // Memory of the last run that there was no room to watch.
  size_t unwatched_bytes() const { return shadow_.unwatched_bytes(); }

  // Events of the runtime. `image` is nullptr in a workspace query.
  void begin_run(const LoadedObject& object, MemoryImage* image);
  void end_run();
  // `runs`: it is no question to the kernel who it is.
  void begin_launch(const wf_simt::LaunchRequest& request, bool runs);
  void end_launch();
  void begin_block(uint64_t index);  // before its shared memory is filled
  void block_barrier();
  void grid_barrier();
  void sync_lanes(unsigned warp, uint32_t lanes, bool all);
  void exchange_lanes(unsigned warp, uint32_t lanes);  // without ordering memory
  // Of a cuda::barrier: the running thread arrives; a phase ends; the thread has waited for that.
  void arrive(const void* barrier);
  void end_phase(const void* barrier);
  void pass(const void* barrier);
  // An asynchronous copy is issued; its bytes have moved, because the thread that issued it waited
  // for it or a barrier's phase ended.
  void begin_async(const Access& from, const Access& to);
  void end_async(const Access& from, const Access& to, bool by_thread);
  void allocated(void* memory, size_t bytes);
  void freed(void* memory);

  // Between these two, accesses belong to an operation of the stream.
  void begin_operation(const void* stream);
  void end_operation();
  // What a copy or a fill does, before it does it.
  void copied(const void* to, const void* from, size_t bytes, uintptr_t pc);
  void filled(const void* to, size_t bytes, uintptr_t pc);
  void created_stream(const void* stream, bool blocking);
  void recorded(const void* event, const void* stream);
  void waits(const void* stream, const void* event);
  enum class Wait : uint8_t { for_last, for_stream, for_event, for_all };
  void host_waits(Wait what, const void* handle = nullptr);

  // A block that waits for others is set aside with the history of its shared memory.
  struct ParkedBlock {
    BlockOrder order;
    std::vector<SavedCells> shared;  // in the order of the ranges
  };
  ParkedBlock park_block();
  void resume_block(ParkedBlock block);

  // Accesses of the kernel. An atomic that leaves its value as it is only reads.
  void read(const Access& access);
  void write(const Access& access);
  void strong_read(const Access& access);
  void strong_write(const Access& access);
  void copied_from(const Access& access);
  void fence(bool device);
  // False if an uninitialised read of the address would be reported.
  bool is_written(uintptr_t address);

 private:
  // An access that races unless what follows excuses it: a write that leaves memory as it is, a
  // plain load before an atomic of the same thread on the same place.
  struct Suspect {
    Access access;
    Record now;
    uintptr_t address = 0;  // of the granule
    uint32_t granule = 0;
    uint32_t before = 0;  // what it held
    Range* range = nullptr;
    Cell* cell = nullptr;
    Record earlier;
    Record last_write;
    bool is_load() const { return (access.kind & write_access) == 0; }
  };
  // Which loads under suspicion are judged, besides all writes, which have happened.
  enum class Loads : uint8_t { none, of_running_thread, all };
  static constexpr size_t most_suspects = 16;
  static constexpr unsigned most_uninitialized = 3;  // leave room in the log for races

  Actor actor() const { return base_ | *thread_; }
  Record record(const Access& access) const {
    const auto offset = static_cast<uint32_t>(access.pc - code_begin_) & site_offset;
    return {order_.now(), actor(), access.kind | offset};
  }
  void read_cell(Range& range, Cell& cell, const Record& now, const Access& access);
  void write_cell(Range& range, Cell& cell, const Record& now, const Access& access,
                  uintptr_t address);
  // What follows is out of line and takes copies, so that the functions above need no memory.
  template <class Visit>
  void for_each_granule(const Range& range, const Access& access, Visit visit);
  void make_granules(Range& range, const Access& access);
  void read_parts(Range& range, Access access);
  void write_parts(Range& range, Access access);
  void check_read(Range& range, Cell& cell, Record now, Access access);
  void check_write(Range& range, Cell& cell, Record now, Access access, uintptr_t address);
  // The target of an asynchronous copy of this block that has not been waited for.
  bool in_flight(const Cell& cell) const {
    return (cell.flags & Cell::in_flight) != 0 && cell.write.tick > order_.block_start();
  }
  bool races(const Range& range, const Cell& cell, const Record& earlier, const Record& now) const;
  void settle(Loads loads) {
    if (suspect_count_ != 0) [[unlikely]]
      settle_suspects(loads);
  }
  void settle_suspects(Loads loads);
  void excuse_loads(uintptr_t address);
  void report_race(const Range& range, const Record& earlier, const Access& access,
                   const Record& now);
  std::string_view name_of(const Record& record) const;
  void report_uninitialized(const Range& range, const Access& access);
  bool locate(Actor by, Tick at, Dim3& block, Dim3& thread) const;
  void run_as(Actor actor);
  void set_floors();
  void set_block_floors();

  bool active_ = false;
  bool in_grid_ = false;
  Actor base_ = host;
  const unsigned* thread_ = nullptr;
  uintptr_t code_begin_ = 0;
  HappensBefore order_;
  Shadow shadow_;
  const LoadedObject* object_ = nullptr;
  StreamOrder streams_;
  Tick launch_begin_ = 0;
  LaunchPlaces* places_ = nullptr;  // of the running launch, if it counts
  std::array<Suspect, most_suspects> suspects_;
  size_t suspect_count_ = 0;
  std::vector<uint64_t> reported_;  // in this run: the sites of both accesses
  unsigned uninitialized_ = 0;
};
extern Detector detector;

template <class Visit>
inline void Detector::for_each_granule(const Range& range, const Access& access, Visit visit) {
  const size_t bytes = std::min(access.bytes, range.begin + range.bytes - access.address);
  for (size_t done = 0; done < bytes; done += size_t{1} << range.shift) {
    visit(range.cell(access.address + done), access.address + done);
  }
}

inline void Detector::read_cell(Range& range, Cell& cell, const Record& now, const Access& access) {
  const bool unordered = cell.write.tick > range.floor && cell.write.actor != now.actor;
  if (unordered || cell.flags != 0 || cell.write.tick < range.written_since) [[unlikely]] {
    check_read(range, cell, now, access);
  }
  cell.note(now);
}

inline void Detector::write_cell(Range& range, Cell& cell, const Record& now, const Access& access,
                                 uintptr_t address) {
  if (std::max(cell.write.tick, cell.latest.tick) > range.floor ||
      (cell.flags & Cell::in_flight) != 0) {
    check_write(range, cell, now, access, address);
  }
  cell.write = now;
  cell.flags = 0;
}

__attribute__((always_inline)) inline void Detector::read(const Access& access) {
  Range* const range = shadow_.find(access.address);
  if (range == nullptr || range->read_only) return;
  if (range->is_granule(access.address, access.bytes)) [[likely]] {
    read_cell(*range, range->cell(access.address), record(access), access);
  } else {
    read_parts(*range, access);
  }
}

__attribute__((always_inline)) inline void Detector::write(const Access& access) {
  Range* const range = shadow_.find(access.address);
  if (range == nullptr) return;
  settle(Loads::of_running_thread);
  range->read_only = false;
  if (range->is_granule(access.address, access.bytes)) [[likely]] {
    write_cell(*range, range->cell(access.address), record(access), access, access.address);
  } else {
    write_parts(*range, access);
  }
}

}  // namespace warpfuzz::simt::race
