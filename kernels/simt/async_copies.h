// The asynchronous copies of one block that have been issued and not waited for. They move their
// bytes as late as a GPU may: when the issuing thread waits for their batch, or when the phase of
// the barrier ends that they are bound to. Who reads too early so gets what was there before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "kernels/simt/include/wf_simt.h"

namespace warpfuzz::simt {

struct AsyncCopy {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  size_t bytes = 0;
  size_t zeros = 0;  // bytes after them that become 0
  unsigned thread = 0;
  uintptr_t pc = 0;
  uint64_t batch = 0;
};

class AsyncCopies {
 public:
  void clear();
  void issue(const AsyncCopy& copy);
  void commit(unsigned thread);
  // Of the running thread.
  void wait(unsigned thread, unsigned prior);
  // What the thread has not committed.
  void bind(unsigned thread, const wf_simt::BarrierState* state);
  void complete(const wf_simt::BarrierState* state);

 private:
  struct OfThread {
    std::vector<AsyncCopy> copies;  // in order
    uint64_t committed = 0;         // batches
  };
  std::vector<OfThread> threads_;  // empty: nothing was ever issued
  std::unordered_map<const wf_simt::BarrierState*, std::vector<AsyncCopy>> bound_;
};

}  // namespace warpfuzz::simt
