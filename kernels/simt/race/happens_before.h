// Which accesses of a launch are ordered: the memory model of the race mode. It is that of the CUDA
// C++ Programming Guide and the PTX ISA, where those leave a choice the one that accuses less.
//
//   - Of what precedes the launch, streams.h knows what is ordered before it.
//   - __syncthreads() and its variants order all threads of the block, a grid barrier all blocks.
//   - __syncwarp(mask) and sync() of a tile or a coalesced group order the lanes they name.
//   Shuffles,
//     votes, matches, warp reductions and __activemask() order nothing: "these intrinsics do not
//     imply a memory barrier".
//   - What threads did before they arrived at a cuda::barrier of the block is ordered before what
//     others do after they have waited for that phase. (A barrier of wider scope is a strong write
//     with a fence, and a strong read.)
//   - Atomic, volatile and L2 accesses (__ldcg, __ldcv, __stcg, __stwt) are strong. A strong write
//     releases what a __threadfence() before it covers: what the fencing thread had done or was
//     ordered after - the fence may be the writer's own or that of a thread it is ordered after.
//     __threadfence_block() covers the threads of the block. Without a fence nothing is released.
//   - A strong read acquires what strong writes of its location have released, whichever of them it
//     read from. It needs no fence (the guide's own example has none); what it acquires goes on to
//     other threads through barriers and all warp functions, since their control depends on it.
//   - Strong accesses of one location are ordered as they happen: who is ordered after one of them
//     is ordered after those before it (the last block may reset its counter with a plain store).
//
// Threads run one at a time, so one clock serves all: a tick that grows at every synchronisation.
// An access is stamped with tick and actor; "t has seen u up to tick c" is all that order says.
// Ticks grow from run to run, which makes everything older than a launch ordered before it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace warpfuzz::simt::race {

using Tick = uint32_t;
// A thread of a launch: the serial number of its block, then 10 bits of its index in the block.
using Actor = uint32_t;
inline constexpr unsigned thread_bits = 10;
inline constexpr Actor host = ~Actor{0};
// Serial numbers start again after so many blocks; the one that is left belongs to the host.
inline constexpr Actor block_serials = (Actor{1} << (32 - thread_bits)) - 1;

// Both belong to one warp, or to one block, and are not the same.
constexpr bool same_block(Actor a, Actor b) { return (a ^ b) >> thread_bits == 0; }
constexpr bool same_warp(Actor a, Actor b) { return (a ^ b) >> 5 == 0; }

// Up to which ticks each thread of the block has been seen.
using View = std::array<Tick, size_t{1} << thread_bits>;
using SharedView = std::shared_ptr<const View>;

// What a thread had seen of its block at some moment.
struct Seen {
  Tick block = 0;      // of all threads of the block
  Tick warp = 0;       // of all lanes of its warp, if `lanes` is negative
  int32_t lanes = -1;  // else row of HappensBefore::rows_: per lane
  SharedView view;     // through barriers of the kernel, nullptr if nothing
};

// The order inside a block; travels with a block that waits at a grid barrier.
struct BlockOrder {
  struct Warp {
    Tick all = 0;        // every lane has seen every other up to here
    int32_t table = -1;  // else index in `tables`: [lane][of lane]
  };
  // What a thread has acquired: the first `count` releases of a location.
  struct Acquired {
    uint32_t location = 0;
    uint32_t count = 0;
  };
  // Of one cuda::barrier.
  struct Phase {
    std::shared_ptr<View> open;      // what those who have arrived had seen
    std::vector<SharedView> joined;  // which views are in it
    std::vector<Acquired> open_acquired;
    SharedView ended;  // of the last phase that has ended
    std::vector<SharedView> ended_joined;
    std::vector<Acquired> ended_acquired;
  };
  Actor base = 0;  // actor of thread 0
  Tick start = 0;
  Tick barrier = 0;  // the last one, or the start
  std::array<Warp, 32> warps;
  std::vector<std::array<std::array<Tick, 32>, 32>> tables;
  std::vector<Acquired> acquired_by_all;
  std::vector<std::vector<Acquired>> acquired;  // per thread; empty: nobody has acquired anything
  std::unordered_map<uintptr_t, Phase> phases;  // by barrier
  std::vector<SharedView> views;                // per thread since the last block barrier, or empty
};

class HappensBefore {
 public:
  Tick now() const { return now_; }
  Tick grid_tick() const { return grid_; }            // older accesses of any block are ordered
  Tick block_tick() const { return block_.barrier; }  // older ones of this block are
  Actor block_base() const { return block_.base; }
  Tick block_start() const { return block_.start; }

  // An actor of its own for what is no thread.
  Actor take_block() {
    const Actor actor = next_block_ << thread_bits;
    next_block_ = (next_block_ + 1) % block_serials;
    return actor;
  }
  // Forgets everything; the ticks start again.
  void reset();
  void begin_run() { ++now_; }
  void begin_launch();
  void begin_block();
  void block_barrier();
  void grid_barrier();
  // `all`: the lanes are all that the warp has.
  void sync_lanes(unsigned warp, uint32_t lanes, bool all);
  // Lanes exchange values without ordering memory.
  void pass_acquired(unsigned warp, uint32_t lanes);
  // cuda::barrier: a thread arrives; all have; a thread has waited for the phase that ended last.
  void arrive(Actor thread, uintptr_t barrier);
  void end_phase(uintptr_t barrier);
  void pass(Actor thread, uintptr_t barrier);
  BlockOrder park() { return std::move(block_); }
  void resume(BlockOrder block) { block_ = std::move(block); }

  // Every strong access takes a tick of its own, before it is recorded.
  void step() { ++now_; }
  void fence(Actor thread, bool device);
  void strong_read(Actor thread, uintptr_t location);
  void strong_write(Actor thread, uintptr_t location);

  // Whether an access of `earlier` at tick `at` is ordered before what `thread`, of the running
  // block, does now.
  bool ordered(Actor earlier, Tick at, Actor thread) const;

 private:
  using Acquired = BlockOrder::Acquired;
  struct Fence {
    Actor by = 0;
    Tick tick = 0;
    Seen seen;
    bool device = true;
  };
  struct Release {
    Actor by = 0;
    Tick tick = 0;
    Seen seen;
    std::vector<Acquired> acquired;
  };

  void exchange_views(unsigned warp, uint32_t lanes);
  Seen seen_by(Actor thread);
  bool has_seen(const Seen& seen, Actor by, Tick own, Actor other, Tick at) const;
  bool covers(const Release& release, Actor earlier, Tick at, Actor thread) const;
  bool released(Actor earlier, Tick at, Actor thread) const;
  std::vector<Acquired>& acquired_of(Actor thread);
  static void add(std::vector<Acquired>& to, const std::vector<Acquired>& from);

  Tick now_ = 1;
  Tick grid_ = 0;
  Actor next_block_ = 0;
  BlockOrder block_;
  // Of this launch. A kernel that fences and polls without end would fill the memory: past a bound
  // nothing more is recorded and everything counts as ordered.
  size_t recorded_ = 0;
  std::unordered_map<Actor, std::vector<Fence>> fences_;  // by block, in order of time
  std::unordered_map<uintptr_t, uint32_t> locations_;
  std::vector<std::vector<Release>> releases_;  // by location, in order of time
  std::vector<std::array<Tick, 32>> rows_;
};

}  // namespace warpfuzz::simt::race
