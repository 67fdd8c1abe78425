// What asynchronous copies have in common: sizes with an alignment, and the share of each thread of
// a group in pieces that the hardware copies at once. Part of <cuda/barrier>, <cuda/pipeline>,
// <cuda_pipeline.h> and <cooperative_groups/memcpy_async.h>.
//
// A copy moves its bytes when it is waited for, as late as a GPU may. The race mode reports who
// touches the target before, and copies that nobody has waited for.
#pragma once

#include "wf_threads.h"

namespace cuda {

// A number of bytes that is a multiple of `Alignment`, as are the addresses.
template <size_t Alignment>
struct aligned_size_t {
  static constexpr size_t align = Alignment;
  size_t value;
  WF_INTRINSIC constexpr explicit aligned_size_t(size_t bytes) : value(bytes) {}
  WF_INTRINSIC constexpr operator size_t() const { return value; }
};

}  // namespace cuda

namespace wf_async {

template <class T>
struct AlignmentOf {
  static constexpr size_t value = alignof(T);
};
template <>
struct AlignmentOf<void> {
  static constexpr size_t value = 1;
};
template <class Size>
constexpr size_t alignment_of_size(Size) {
  return 1;
}
template <size_t Alignment>
constexpr size_t alignment_of_size(::cuda::aligned_size_t<Alignment>) {
  return Alignment;
}

struct OneThread {
  static WF_INTRINSIC unsigned thread_rank() { return 0; }
  static WF_INTRINSIC unsigned size() { return 1; }
};

// The running thread's share of a copy by a group.
template <class Group>
WF_INTRINSIC void issue(const Group& group, void* to, const void* from, size_t bytes,
                        size_t alignment) {
  const uintptr_t bits =
      reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | bytes | 16;
  const size_t piece = bits & -bits;  // the largest power of two that divides all of them
  if (alignment > 16) alignment = 16;
  if (alignment > piece) {
    if (group.thread_rank() == 0) wf_async_copy(to, from, bytes, 0, alignment);  // reports it
    return;
  }
  const size_t stride = piece * group.size();
  for (size_t at = piece * group.thread_rank(); at < bytes; at += stride) {
    wf_async_copy(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, piece, 0,
                  alignment);
  }
}

}  // namespace wf_async
