// One launch in flight: the blocks, one after the other, and the switching between their threads.
// A worker fiber runs threads in the kernel object's own loop; when a thread has to wait the fiber
// becomes that thread's and another fiber goes on with the next thread. A block whose threads all
// wait at the grid barrier, or poll for what only another block can do, is set aside with its
// shared memory while others run, of which as many are in flight as the device would hold.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "kernels/simt/block.h"
#include "kernels/simt/fiber.h"
#include "kernels/simt/include/wf_simt.h"
#include "kernels/simt/race/detector.h"
#include "kernels/simt/run.h"
#include "kernels/simt/shared_memory.h"

namespace warpfuzz::simt {

// Threads in flight at once: those of the device's 4 multiprocessors.
inline constexpr uint64_t max_resident_threads = 8192;

class Grid {
 public:
  Grid();

  bool running() const { return request_ != nullptr; }
  // Runs all blocks of a launch whose configuration is legal. Returns a cudaError_t: not success if
  // the launch breaks a limit of its kernel, of which then nothing has run.
  int run(const wf_simt::LaunchRequest& request, const RunOptions& options);
  // The first thread of the launch is about to run the kernel.
  void enter(const wf_simt::KernelRecord& record);
  // The run has been left: forget the launch and all suspended threads.
  void abandon();

  // What a kernel that calls enter() says of itself; nullptr in device code.
  const wf_simt::KernelRecord* record_of(const void* function, wf_simt::Context* context);

  // Called on the fiber of the running thread.
  bool next_thread();
  int block_barrier(wf_simt::BarrierOp op, int value, const char* file, int line);
  uint64_t warp(wf_simt::WarpOp op, uint32_t mask, uint64_t value, uint32_t operand, int* predicate,
                const char* file, int line);
  void grid_barrier(const char* file, int line);
  void yield(uintptr_t pc);
  void poll(uintptr_t pc);
  // Until the barrier's phase is another one.
  void sleep(const wf_simt::BarrierState& state, unsigned phase, const char* file, int line);
  Block& block() { return *block_; }
  // Of the running thread, in its block.
  unsigned linear() const { return context_->linear; }
  void preempt();

  // Block and thread for a message; the running thread, or one of the running block.
  void describe_thread(RawFault& fault) const;
  void describe_thread(RawFault& fault, unsigned linear) const;
  bool in_guard_page(uintptr_t address) const { return pool_.in_guard_page(address); }
  // Where a thread called the runtime last, for a run that does not end.
  void describe_place(RawFault& fault) const {
    fault.file = place_.file;
    fault.line = place_.line;
    fault.pc = place_.pc;
  }

 private:
  struct ParkedBlock {
    std::unique_ptr<Block> block;
    SharedMemoryCopy shared;
    race::Detector::ParkedBlock race;
  };

  static void fiber_body(Fiber& self);
  Fiber& choose();
  Fiber& choose_otherwise();  // no thread is ready, or one shall start
  Fiber& running_thread();    // bound to its fiber
  void bind_running_thread(Fiber& self);
  void suspend(Fiber& self, bool start_first);
  void start_thread();
  bool start_next_block();
  bool may_start_block() const;
  bool other_block_can_run() const;
  bool anything_set_aside() const {
    return !parked_.empty() || !released_.empty() || !polling_.empty();
  }
  ParkedBlock set_aside();
  void resume(ParkedBlock block);
  bool go_on_with_other_block();
  void let_other_block_run();
  void set_block(uint64_t index);
  void set_position(unsigned linear);

  const wf_simt::LaunchRequest* request_ = nullptr;
  wf_simt::Context* context_ = nullptr;
  std::unique_ptr<Block> block_;
  uint64_t blocks_ = 0;
  uint64_t next_block_ = 0;
  Order block_order_;
  Order thread_order_;
  Schedule schedule_ = Schedule::sequential;
  ScheduleRandom random_;
  unsigned yields_ = 0;  // in a row
  int rejection_ = 0;    // cudaError_t
  bool asks_who_ = false;
  struct {
    const char* file = nullptr;
    int line = 0;
    uintptr_t pc = 0;
  } place_;
  FiberPool pool_;
  std::vector<ParkedBlock> parked_;    // wait at the grid barrier
  std::vector<ParkedBlock> released_;  // may go on after it, last one first
  std::deque<ParkedBlock> polling_;    // for other blocks, the longest first
};

extern Grid grid;

}  // namespace warpfuzz::simt
