#include "kernels/simt/grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/simt/kernel_limits.h"

namespace warpfuzz::simt {

using wf_simt::Context;

Grid grid;

namespace {

// Yields in a row, at least, after which waiting for exited threads is looked into, and then other
// blocks run, although the yielding threads themselves could run on.
constexpr unsigned yields_before_resolve = 256;
constexpr unsigned polls_before_yield = 64;  // as wf_simt::poll() has it

}  // namespace

Grid::Grid() : block_(std::make_unique<Block>()), pool_(&Grid::fiber_body) {}

int Grid::run(const wf_simt::LaunchRequest& request, const RunOptions& options) {
  request_ = &request;
  rejection_ = 0;
  context_ = request.context;
  schedule_ = options.schedule;
  random_ = ScheduleRandom(options.schedule_seed);
  const dim3 block = request.block;
  const unsigned threads = block.x * block.y * block.z;
  blocks_ = uint64_t{request.grid.x} * request.grid.y * request.grid.z;
  next_block_ = 0;
  block_order_ = Order(schedule_, blocks_, random_);
  thread_order_ = Order(schedule_, threads, random_);
  place_ = {};
  *context_ = Context{};
  context_->block_dim = block;
  context_->grid_dim = request.grid;
  context_->threads = threads;
  // The race mode hears of every access: no interleaving hides one.
  context_->preempt = schedule_ == Schedule::random && !race::detector.active();
  context_->dynamic_shared_bytes = request.dynamic_shared_bytes;
  shared_memory.set_dynamic_bytes(request.dynamic_shared_bytes);
  race::detector.begin_launch(request, !asks_who_);
  start_next_block();
  Fiber& worker = pool_.take();
  start_thread();
  switch_to(worker);
  race::detector.end_launch();
  place_ = {};
  if (rejection_ != 0) {
    abandon();
  } else {
    request_ = nullptr;
  }
  return rejection_;
}

namespace {

// Calls a kernel without arguments: it says who it is before it looks at them. What stands for
// arguments on the stack is `room`.
void call_kernel(void* function) {
  volatile char room[32 << 10];
  room[0] = 0;
  reinterpret_cast<void (*)()>(function)();
  room[1] = 0;
}

}  // namespace

const wf_simt::KernelRecord* Grid::record_of(const void* function, Context* context) {
  if (running() || function == nullptr) return nullptr;
  const wf_simt::LaunchRequest request{"",
                                       function,
                                       context,
                                       1,
                                       1,
                                       0,
                                       nullptr,
                                       false,
                                       true,
                                       &call_kernel,
                                       const_cast<void*>(function)};
  asks_who_ = true;
  run(request, {});
  asks_who_ = false;
  return context->kernel;
}

void Grid::enter(const wf_simt::KernelRecord& record) {
  context_->kernel = &record;
  if (asks_who_) {
    rejection_ = -1;
    switch_to(fibers.main);
  }
  rejection_ = check_kernel_limits(*request_, record);
  if (rejection_ != 0) switch_to(fibers.main);
}

void Grid::abandon() {
  request_ = nullptr;
  parked_.clear();
  released_.clear();
  polling_.clear();
  pool_.abandon();
}

// The fiber that goes on after the running one, which waits or has nothing left to do. The position
// of a thread that starts is set here, that of a suspended one by suspend() when it resumes.
__attribute__((always_inline)) inline Fiber& Grid::choose() {
  if (block_->has_ready() && !block_->prefer_start()) return block_->take_ready();
  return choose_otherwise();
}

void Grid::fiber_body(Fiber& self) {
  for (;;) {
    grid.request_->run_threads(grid.request_->closure);
    Fiber& next = grid.choose();
    grid.pool_.give(self);
    switch_to(next);
  }
}

bool Grid::start_next_block() {
  if (next_block_ == blocks_) return false;
  check_time_limit();
  if (block_ == nullptr) block_ = std::make_unique<Block>();
  const uint64_t index = block_order_(next_block_++);
  set_block(index);
  race::detector.begin_block(index);
  shared_memory.fill(simt::run.options.fill);
  block_->start(index, context_->threads, thread_order_, schedule_, random_);
  return true;
}

void Grid::set_block(uint64_t index) {
  const dim3 size = request_->grid;
  context_->block = {static_cast<unsigned>(index % size.x),
                     static_cast<unsigned>(index / size.x % size.y),
                     static_cast<unsigned>(index / size.x / size.y)};
}

void Grid::set_position(unsigned linear) {
  const dim3 size = context_->block_dim;
  context_->linear = linear;
  context_->thread = {linear % size.x, linear / size.x % size.y, linear / size.x / size.y};
}

// The running fiber, or the one about to run, takes the next thread of the block.
void Grid::start_thread() {
  set_position(block_->start_next());
  context_->slow = schedule_ != Schedule::sequential;
  context_->polls = 0;
}

bool Grid::next_thread() {
  if (context_->slow == 0) block_->set_started(block_->threads());
  Fiber& self = *fibers.current;
  if (self.bound) {
    block_->exit(self);
    self.bound = false;
  }
  if (block_->has_ready() && !block_->prefer_start()) return false;
  if (block_->has_unstarted()) {
    start_thread();
    return true;
  }
  if (block_->bound() != 0 || anything_set_aside()) return false;
  if (!start_next_block()) return false;
  start_thread();
  return true;
}

__attribute__((noinline)) Fiber& Grid::choose_otherwise() {
  check_time_limit();
  for (;;) {
    if (block_->has_unstarted()) {
      start_thread();
      return pool_.take();
    }
    if (block_->bound() == 0 && !anything_set_aside()) {
      if (next_block_ == blocks_) return fibers.main;
      start_next_block();
    } else if (!(block_->bound() != 0 && block_->resolve()) && !go_on_with_other_block()) {
      block_->report_stuck();
      leave_run();
    }
    if (block_->has_ready()) return block_->take_ready();
  }
}

void Grid::bind_running_thread(Fiber& self) {
  if (context_->slow == 0) {
    block_->set_started(context_->linear + 1);
    context_->slow = 1;
  }
  self.bound = true;
  self.linear = context_->linear;
  self.thread = context_->thread;
  block_->bind(self);
}

// The running thread waits; returns when another one or the block has made it ready.
__attribute__((always_inline)) inline void Grid::suspend(Fiber& self, bool start_first) {
  Fiber* next = nullptr;
  if (start_first && block_->has_unstarted()) {
    start_thread();
    next = &pool_.take();
  } else {
    next = &choose();
  }
  if (next != &self) switch_to(*next);
  context_->linear = self.linear;
  context_->thread = self.thread;
  context_->slow = 1;
  context_->polls = 0;
}

__attribute__((always_inline)) inline Fiber& Grid::running_thread() {
  Fiber& self = *fibers.current;
  if (!self.bound) bind_running_thread(self);
  return self;
}

__attribute__((always_inline)) inline int Grid::block_barrier(wf_simt::BarrierOp op, int value,
                                                              const char* file, int line) {
  yields_ = 0;
  place_ = {file, line, 0};
  Fiber& self = running_thread();
  if (!block_->arrive_at_barrier(self, op, value, file, line)) suspend(self, false);
  return block_->barrier_result();
}

__attribute__((always_inline)) inline uint64_t Grid::warp(wf_simt::WarpOp op, uint32_t mask,
                                                          uint64_t value, uint32_t operand,
                                                          int* predicate, const char* file,
                                                          int line) {
  yields_ = 0;
  place_ = {file, line, 0};
  Fiber& self = running_thread();
  const unsigned lane = self.linear % 32;
  Warp& warp = block_->warp(self.linear);
  if (!warp.arrive(*block_, lane, op, mask, value, operand, file, line)) suspend(self, false);
  if (predicate != nullptr) *predicate = warp.predicate(lane);
  return warp.result(lane);
}

void Grid::grid_barrier(const char* file, int line) {
  if (!request_->cooperative) {
    RawFault fault = make_fault(FaultKind::undefined_behavior, file, line);
    set_text(fault.message, "grid barrier in a launch that is not cooperative");
    report(fault);
    leave_run();
  }
  place_ = {file, line, 0};
  Fiber& self = running_thread();
  block_->arrive_at_grid_barrier(self, file, line);
  suspend(self, false);
}

void Grid::yield(uintptr_t pc) {
  place_ = {nullptr, 0, pc};
  check_time_limit();
  Fiber& self = running_thread();
  block_->make_ready(self);
  if (++yields_ > std::max(yields_before_resolve, 2 * block_->ready()) &&
      !block_->has_unstarted()) {
    yields_ = 0;
    if (!block_->resolve()) let_other_block_run();
  }
  suspend(self, true);
}

void Grid::sleep(const wf_simt::BarrierState& state, unsigned phase, const char* file, int line) {
  yields_ = 0;
  place_ = {file, line, 0};
  Fiber& self = running_thread();
  block_->sleep(self, state, phase, file, line);
  suspend(self, false);
}

void Grid::poll(uintptr_t pc) {
  if (request_ == nullptr || fibers.current == &fibers.main) return;
  if (++context_->polls > polls_before_yield) yield(pc);
}

void Grid::preempt() {
  if ((random_.next() & 3) != 0) return;
  Fiber& self = running_thread();
  const unsigned polls = context_->polls;
  block_->make_ready(self);
  suspend(self, false);
  context_->polls = polls;
}

void Grid::describe_thread(RawFault& fault) const {
  if (request_ == nullptr || fibers.current == &fibers.main) return;
  describe_thread(fault, context_->linear);
}

void Grid::describe_thread(RawFault& fault, unsigned linear) const {
  const dim3 size = context_->block_dim;
  fault.in_device_code = true;
  fault.block = {context_->block.x, context_->block.y, context_->block.z};
  fault.thread = {linear % size.x, linear / size.x % size.y, linear / size.x / size.y};
}

}  // namespace warpfuzz::simt

extern "C" {

bool wf_next_thread(void) { return warpfuzz::simt::grid.next_thread(); }

int wf_block_barrier(wf_simt::BarrierOp op, int value, const char* file, int line) {
  return warpfuzz::simt::grid.block_barrier(op, value, file, line);
}

uint64_t wf_warp(wf_simt::WarpOp op, unsigned mask, uint64_t value, unsigned operand,
                 int* predicate, const char* file, int line) {
  return warpfuzz::simt::grid.warp(op, mask, value, operand, predicate, file, line);
}

void wf_enter_kernel(const wf_simt::KernelRecord* record) { warpfuzz::simt::grid.enter(*record); }

void wf_grid_barrier(const char* file, int line) { warpfuzz::simt::grid.grid_barrier(file, line); }

void wf_yield(void) {
  warpfuzz::simt::grid.yield(reinterpret_cast<uintptr_t>(__builtin_return_address(0)) - 1);
}

void wf_volatile_read(void) {
  warpfuzz::simt::grid.poll(reinterpret_cast<uintptr_t>(__builtin_return_address(0)) - 1);
}

void wf_preempt(void) { warpfuzz::simt::grid.preempt(); }
}
