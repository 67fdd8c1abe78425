#include "kernels/simt/async_copies.h"

#include <algorithm>

#include "kernels/simt/asan.h"
#include "kernels/simt/block.h"
#include "kernels/simt/grid.h"
#include "kernels/simt/race/detector.h"
#include "kernels/simt/run.h"

namespace warpfuzz::simt {

namespace {

void move_bytes(const AsyncCopy& copy) {
  raw_move(copy.to, copy.from, copy.bytes);
  raw_fill(copy.to + copy.bytes, 0, copy.zeros);
}

race::Access target(const AsyncCopy& copy) {
  return {reinterpret_cast<uintptr_t>(copy.to), copy.bytes + copy.zeros,
          race::write_access | race::async_access, copy.pc};
}
race::Access source(const AsyncCopy& copy) {
  return {reinterpret_cast<uintptr_t>(copy.from), copy.bytes, race::async_access, copy.pc};
}

}  // namespace

void AsyncCopies::clear() {
  if (threads_.empty()) return;
  threads_.clear();
  bound_.clear();
}

void AsyncCopies::issue(const AsyncCopy& copy) {
  if (threads_.empty()) threads_.resize(max_block_threads);
  OfThread& of_thread = threads_[copy.thread];
  of_thread.copies.push_back(copy);
  of_thread.copies.back().batch = of_thread.committed;
  race::detector.begin_async(source(copy), target(copy));
}

void AsyncCopies::commit(unsigned thread) {
  if (!threads_.empty()) ++threads_[thread].committed;
}

void AsyncCopies::wait(unsigned thread, unsigned prior) {
  if (threads_.empty()) return;
  OfThread& of_thread = threads_[thread];
  if (of_thread.committed < prior) return;
  const uint64_t end = of_thread.committed - prior;
  auto& copies = of_thread.copies;
  auto next = copies.begin();
  for (; next != copies.end() && next->batch < end; ++next) {
    move_bytes(*next);
    race::detector.end_async(source(*next), target(*next), true);
  }
  copies.erase(copies.begin(), next);
}

void AsyncCopies::bind(unsigned thread, const wf_simt::BarrierState* state) {
  if (threads_.empty()) return;
  OfThread& of_thread = threads_[thread];
  const auto open =
      std::find_if(of_thread.copies.begin(), of_thread.copies.end(),
                   [&](const AsyncCopy& copy) { return copy.batch == of_thread.committed; });
  auto& bound = bound_[state];
  bound.insert(bound.end(), open, of_thread.copies.end());
  of_thread.copies.erase(open, of_thread.copies.end());
}

void AsyncCopies::complete(const wf_simt::BarrierState* state) {
  const auto found = bound_.find(state);
  if (found == bound_.end()) return;
  for (const AsyncCopy& copy : found->second) {
    move_bytes(copy);
    race::detector.end_async(source(copy), target(copy), false);
  }
  bound_.erase(found);
}

}  // namespace warpfuzz::simt

using namespace warpfuzz::simt;
using warpfuzz::FaultKind;

extern "C" {

void wf_async_copy(void* to, const void* from, size_t bytes, size_t zeros, size_t alignment) {
  const uintptr_t pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0)) - 1;
  for (const void* address : {static_cast<const void*>(to), from}) {
    const auto value = reinterpret_cast<uintptr_t>(address);
    if (value % alignment != 0) report_misaligned(value, alignment, pc);
  }
  const bool readable = check_access(false, from, bytes, pc);
  const bool writable = check_access(true, to, bytes + zeros, pc);
  if (!readable || !writable) return;
  grid.block().async_copies().issue({.to = static_cast<std::byte*>(to),
                                     .from = static_cast<const std::byte*>(from),
                                     .bytes = bytes,
                                     .zeros = zeros,
                                     .thread = grid.linear(),
                                     .pc = pc});
}
void wf_async_commit(void) { grid.block().async_copies().commit(grid.linear()); }
void wf_async_wait(unsigned prior) { grid.block().async_copies().wait(grid.linear(), prior); }
void wf_async_bind(const wf_simt::BarrierState* state) {
  grid.block().async_copies().bind(grid.linear(), state);
}
}
