#include "kernels/simt/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/simt/grid.h"
#include "kernels/simt/race/detector.h"
#include "kernels/simt/run.h"
#include "kernels/simt/shared_memory.h"

namespace warpfuzz::simt {

void Block::start(uint64_t index, unsigned threads, const Order& order, Schedule schedule,
                  ScheduleRandom& random) {
  index_ = index;
  threads_ = threads;
  started_ = 0;
  bound_ = 0;
  ready_head_ = ready_tail_ = 0;
  schedule_ = schedule;
  order_ = &order;
  random_ = &random;
  barrier_.waiting_count = barrier_.arrived = barrier_.predicates = 0;
  at_grid_barrier_.clear();
  sleepers_.clear();
  async_copies_.clear();
  for (unsigned w = 0; w * 32 < threads; ++w) warps_[w].reset(w, threads);
}

void Block::pick_ready() {
  const unsigned pick = ready_head_ + random_->below(ready_tail_ - ready_head_);
  std::swap(ready_[pick % max_block_threads], ready_[ready_head_ % max_block_threads]);
}

// The file's name is one object per kernel object only if the linker merged the literals.
void Block::report_divergent_barrier(const char* file, int line) {
  if (barrier_.line == line && std::strcmp(barrier_.file, file) == 0) return;
  RawFault fault = make_fault(FaultKind::divergent_barrier, file, line);
  set_text(fault.message, "threads of one block wait at different barriers: here and at line {}",
           barrier_.line);
  report(fault);
}

void Block::complete_barrier() {
  check_time_limit();
  Barrier& barrier = barrier_;
  if (barrier.arrived < threads_) {
    RawFault fault = make_fault(FaultKind::exit_before_barrier, barrier.file, barrier.line);
    set_text(fault.message, "{} of {} threads of the block have returned before this barrier",
             threads_ - barrier.arrived, threads_);
    if (barrier.waiting_count != 0) grid.describe_thread(fault, barrier.waiting[0]->linear);
    report(fault);
  }
  switch (barrier.op) {
    case wf_simt::BarrierOp::plain:
      break;
    case wf_simt::BarrierOp::count:
      barrier.result = static_cast<int>(barrier.predicates);
      break;
    case wf_simt::BarrierOp::all:
      barrier.result = barrier.predicates == barrier.arrived;
      break;
    case wf_simt::BarrierOp::any:
      barrier.result = barrier.predicates != 0;
      break;
  }
  race::detector.block_barrier();
  for (unsigned i = 0; i < barrier.waiting_count; ++i) make_ready(*barrier.waiting[i]);
  barrier.waiting_count = barrier.arrived = barrier.predicates = 0;
}

void Block::release_grid_barrier() {
  for (Fiber* fiber : at_grid_barrier_) make_ready(*fiber);
  at_grid_barrier_.clear();
}

void Block::report_absent_threads() const {
  if (bound_ == threads_) return;
  RawFault fault = make_fault(FaultKind::exit_before_barrier, grid_file_, grid_line_);
  set_text(fault.message, "{} of {} threads of the block have returned before this grid barrier",
           threads_ - bound_, threads_);
  grid.describe_thread(fault, at_grid_barrier_[0]->linear);
  report(fault);
}

void Block::report_absent_blocks(uint64_t absent, uint64_t blocks) const {
  RawFault fault = make_fault(FaultKind::exit_before_barrier, grid_file_, grid_line_);
  set_text(fault.message, "{} of {} blocks have returned before this grid barrier", absent, blocks);
  report(fault);
}

bool Block::wake() {
  const size_t asleep = sleepers_.size();
  std::erase_if(sleepers_, [&](const Sleeper& sleeper) {
    if (sleeper.may_go_on()) make_ready(*sleeper.fiber);
    return sleeper.may_go_on();
  });
  return sleepers_.size() != asleep;
}

bool Block::waits_for_other_block() const {
  return std::any_of(sleepers_.begin(), sleepers_.end(),
                     [](const Sleeper& s) { return !shared_memory.contains(s.state); });
}

bool Block::can_go_on() const {
  return has_ready() || std::any_of(sleepers_.begin(), sleepers_.end(), [](const Sleeper& s) {
           return !shared_memory.contains(s.state) && s.may_go_on();
         });
}

bool Block::resolve() {
  if (wake()) return true;
  const unsigned warps = (threads_ + 31) / 32;
  bool progress = false;
  for (unsigned w = 0; w < warps; ++w) progress |= warps_[w].complete_without_exited(*this);
  if (progress) return true;
  for (unsigned w = 0; w < warps; ++w) progress |= warps_[w].complete_active_masks(*this);
  if (progress) return true;
  if (barrier_.arrived != 0 && barrier_.arrived == bound_) {
    complete_barrier();
    return true;
  }
  return false;
}

void Block::report_stuck() const {
  const Warp::Group* group = nullptr;
  unsigned first_waiting = 0;  // the first thread of the group
  for (unsigned w = 0; w * 32 < threads_ && group == nullptr; ++w) {
    group = warps_[w].waiting();
    if (group != nullptr)
      first_waiting = w * 32 + static_cast<unsigned>(std::countr_zero(group->arrived));
  }
  RawFault fault;
  if (!sleepers_.empty()) {
    const Sleeper& first = sleepers_.front();
    fault = make_fault(FaultKind::deadlock, first.file, first.line);
    set_text(fault.message, "{} of {} threads wait here for a barrier that lacks {} of {} arrivals",
             std::count_if(sleepers_.begin(), sleepers_.end(),
                           [&](const Sleeper& s) { return s.state == first.state; }),
             threads_, first.state->pending, first.state->expected);
    grid.describe_thread(fault, first.fiber->linear);
  } else if (barrier_.arrived != 0) {
    fault = make_fault(FaultKind::divergent_barrier, barrier_.file, barrier_.line);
    set_text(fault.message, "{} of {} threads wait at this barrier, others {} at line {}",
             barrier_.arrived, bound_,
             group != nullptr ? "in a warp function" : "at the grid barrier",
             group != nullptr ? group->line : grid_line_);
    grid.describe_thread(fault, barrier_.waiting[0]->linear);
  } else if (group != nullptr) {
    fault = make_fault(FaultKind::deadlock, group->file, group->line);
    set_text(fault.message,
             "lanes {:#010x} of a warp wait here for lanes {:#010x}, which wait elsewhere",
             group->arrived, group->mask & ~group->arrived);
    grid.describe_thread(fault, first_waiting);
  } else {
    fault = make_fault(FaultKind::deadlock, nullptr, 0);
    set_text(fault.message, "the threads wait for one another");
  }
  report(fault);
}

}  // namespace warpfuzz::simt
