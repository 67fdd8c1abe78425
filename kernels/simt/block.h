// One thread block in flight: which threads have started, which are ready, who waits at the
// barrier. Chooses the next thread to run; the grid does the switching. Threads that have returned
// without ever waiting leave no trace here, so barrier-free kernels cost nothing.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/simt/async_copies.h"
#include "kernels/simt/schedule.h"
#include "kernels/simt/warp.h"

namespace warpfuzz::simt {

inline constexpr unsigned max_block_threads = 1024;

class Block {
 public:
  Block() { ready_.fill(&fibers.main); }
  void start(uint64_t index, unsigned threads, const Order& order, Schedule schedule,
             ScheduleRandom& random);

  uint64_t index() const { return index_; }
  unsigned threads() const { return threads_; }

  // Threads start in the order's sequence.
  bool has_unstarted() const { return started_ < threads_; }
  unsigned start_next() { return static_cast<unsigned>((*order_)(started_++)); }
  // The kernel's own loop has started threads up to this count (sequential schedule).
  void set_started(unsigned count) { started_ = count; }

  // Threads that have a fiber of their own.
  unsigned bound() const { return bound_; }
  void bind(Fiber& fiber) {
    ++bound_;
    warps_[fiber.linear / 32].bind(fiber.linear % 32, fiber);
  }
  void exit(Fiber& fiber) {
    --bound_;
    warps_[fiber.linear / 32].exit(fiber.linear % 32);
  }

  bool has_ready() const { return ready_head_ != ready_tail_; }
  unsigned ready() const { return ready_tail_ - ready_head_; }
  void make_ready(Fiber& fiber) { ready_[ready_tail_++ % max_block_threads] = &fiber; }
  Fiber& take_ready() {
    if (schedule_ == Schedule::random) pick_ready();
    Fiber& fiber = ready_at(ready_head_++);
    // Its successors' frames and positions; stale entries name fibers too.
    prefetch_stack(ready_at(ready_head_));
    __builtin_prefetch(&ready_at(ready_head_ + 1));
    return fiber;
  }
  // True if a thread that has not started shall run before one that is ready.
  bool prefer_start() {
    return schedule_ == Schedule::random && has_unstarted() && (random_->next() & 1) != 0;
  }

  // The block barrier. arrive() is true if the caller was the last one; else it has to wait.
  bool arrive_at_barrier(Fiber& fiber, wf_simt::BarrierOp op, int value, const char* file,
                         int line) {
    if (barrier_.arrived == 0) {
      barrier_.file = file;
      barrier_.line = line;
      barrier_.op = op;
    } else if (barrier_.line != line || barrier_.op != op || barrier_.file != file) {
      report_divergent_barrier(file, line);
    }
    ++barrier_.arrived;
    barrier_.predicates += value != 0;
    if (barrier_.arrived == bound_ && !has_unstarted()) {
      complete_barrier();
      return true;
    }
    barrier_.waiting[barrier_.waiting_count++] = &fiber;
    return false;
  }
  int barrier_result() const { return barrier_.result; }

  // Grid barrier: the fiber waits until the grid releases the whole block.
  void arrive_at_grid_barrier(Fiber& fiber, const char* file, int line) {
    at_grid_barrier_.push_back(&fiber);
    grid_file_ = file;
    grid_line_ = line;
  }
  bool all_at_grid_barrier() const {
    return bound_ != 0 && at_grid_barrier_.size() == bound_ && !has_unstarted();
  }
  void release_grid_barrier();
  // Reports threads of this block, and blocks of the grid, that have returned and will never come.
  void report_absent_threads() const;
  void report_absent_blocks(uint64_t absent, uint64_t blocks) const;

  // A thread that waits for the phase of a barrier to end.
  void sleep(Fiber& fiber, const wf_simt::BarrierState& state, unsigned phase, const char* file,
             int line) {
    sleepers_.push_back({&fiber, &state, phase, file, line});
  }
  // Those whose phase has ended become ready; true if there are any.
  bool wake();
  // A thread sleeps that other blocks may wake.
  bool waits_for_other_block() const;
  // Also for a block that is set aside: its sleepers do not wait for shared memory.
  bool can_go_on() const;

  AsyncCopies& async_copies() { return async_copies_; }

  // Nothing is ready and nothing is left to start: completes what waits only for exited threads.
  // False if nothing can go on.
  bool resolve();
  // Reports why nothing can go on.
  void report_stuck() const;

  Warp& warp(unsigned linear) { return warps_[linear / 32]; }
  Schedule schedule() const { return schedule_; }

 private:
  struct Barrier {
    std::array<Fiber*, max_block_threads> waiting;
    unsigned waiting_count = 0;
    unsigned arrived = 0;
    unsigned predicates = 0;  // arrivals with a non-zero predicate
    wf_simt::BarrierOp op = wf_simt::BarrierOp::plain;
    const char* file = nullptr;
    int line = 0;
    int result = 0;
  };
  struct Sleeper {
    Fiber* fiber;
    const wf_simt::BarrierState* state;
    unsigned phase;
    const char* file;
    int line;
    bool may_go_on() const { return state->phase != phase; }
  };
  void complete_barrier();
  void report_divergent_barrier(const char* file, int line);
  Fiber& ready_at(unsigned position) { return *ready_[position % max_block_threads]; }
  void pick_ready();  // a random one becomes the next

  uint64_t index_ = 0;
  unsigned threads_ = 0;
  unsigned started_ = 0;
  unsigned bound_ = 0;
  unsigned ready_head_ = 0;
  unsigned ready_tail_ = 0;
  Schedule schedule_ = Schedule::sequential;
  const Order* order_ = nullptr;
  ScheduleRandom* random_ = nullptr;
  std::array<Fiber*, max_block_threads> ready_;
  Barrier barrier_;
  std::vector<Fiber*> at_grid_barrier_;
  std::vector<Sleeper> sleepers_;
  AsyncCopies async_copies_;
  const char* grid_file_ = nullptr;  // of the grid barrier reached last
  int grid_line_ = 0;
  std::array<Warp, max_block_threads / 32> warps_;
};

}  // namespace warpfuzz::simt
