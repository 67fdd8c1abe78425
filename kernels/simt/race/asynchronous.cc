// What the detector hears of barriers of the kernel and of asynchronous copies. From its issue
// until it is waited for, whoever touches the target of a copy races with it, the issuing thread
// too.
#include "kernels/simt/race/detector.h"

namespace warpfuzz::simt::race {

void Detector::arrive(const void* barrier) {
  if (!active_) return;
  settle(Loads::all);
  order_.arrive(actor(), reinterpret_cast<uintptr_t>(barrier));
}

void Detector::end_phase(const void* barrier) {
  if (active_) order_.end_phase(reinterpret_cast<uintptr_t>(barrier));
}

void Detector::pass(const void* barrier) {
  if (!active_) return;
  settle(Loads::all);
  order_.pass(actor(), reinterpret_cast<uintptr_t>(barrier));
}

void Detector::begin_async(const Access& from, const Access& to) {
  if (!active_) return;
  copied_from(from);
  write(to);
  if (Range* const range = shadow_.find(to.address)) {
    for_each_granule(*range, to, [](Cell& cell, uintptr_t) { cell.flags |= Cell::in_flight; });
  }
}

void Detector::end_async(const Access& from, const Access& to, bool by_thread) {
  if (!active_) return;
  if (by_thread) copied_from(from);
  Range* const range = shadow_.find(to.address);
  if (range == nullptr) return;
  make_granules(*range, to);
  const Record now = record(to);
  for_each_granule(*range, to, [&](Cell& cell, uintptr_t) {
    cell.flags &= ~uint32_t{Cell::in_flight};
    if (by_thread) cell.write = now;
  });
}

}  // namespace warpfuzz::simt::race
