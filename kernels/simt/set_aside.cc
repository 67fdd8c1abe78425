// The part of the grid that sets blocks aside, with their shared memory, and goes on with others.
#include <algorithm>

#include "kernels/simt/grid.h"

namespace warpfuzz::simt {

bool Grid::may_start_block() const {
  const uint64_t resident = parked_.size() + released_.size() + polling_.size() + 1;
  return next_block_ != blocks_ && resident * context_->threads <= max_resident_threads;
}

bool Grid::other_block_can_run() const {
  return may_start_block() || !released_.empty() ||
         std::any_of(polling_.begin(), polling_.end(),
                     [](const ParkedBlock& parked) { return parked.block->can_go_on(); });
}

Grid::ParkedBlock Grid::set_aside() {
  ParkedBlock parked{std::move(block_), {}, race::detector.park_block()};
  parked.shared.save();
  return parked;
}

void Grid::resume(ParkedBlock parked) {
  block_ = std::move(parked.block);
  parked.shared.restore();
  race::detector.resume_block(std::move(parked.race));
  set_block(block_->index());
}

// The block's threads have all ended, or none can go on. False if the block is stuck.
bool Grid::go_on_with_other_block() {
  if (block_->all_at_grid_barrier()) {
    block_->report_absent_threads();
    parked_.push_back(set_aside());
  } else if (block_->bound() != 0) {
    if (!block_->waits_for_other_block() || !other_block_can_run()) return false;
    polling_.push_back(set_aside());
  }
  if (may_start_block()) return start_next_block();
  if (!polling_.empty()) {
    resume(std::move(polling_.front()));
    polling_.pop_front();
    return true;
  }
  if (released_.empty()) {
    if (parked_.size() != blocks_) {
      set_block(parked_.back().block->index());
      parked_.back().block->report_absent_blocks(blocks_ - parked_.size(), blocks_);
    }
    race::detector.grid_barrier();
    for (; !parked_.empty(); parked_.pop_back()) {
      parked_.back().block->release_grid_barrier();
      released_.push_back(std::move(parked_.back()));
    }
  }
  ParkedBlock next = std::move(released_.back());
  released_.pop_back();
  resume(std::move(next));
  return true;
}

// The block's threads poll. It waits behind all others.
void Grid::let_other_block_run() {
  const bool start = may_start_block();
  if (!start && !anything_set_aside()) return;
  polling_.push_back(set_aside());
  if (start) {
    start_next_block();
  } else if (!released_.empty()) {
    ParkedBlock next = std::move(released_.back());
    released_.pop_back();
    resume(std::move(next));
  } else {
    ParkedBlock next = std::move(polling_.front());
    polling_.pop_front();
    resume(std::move(next));
  }
}

}  // namespace warpfuzz::simt
