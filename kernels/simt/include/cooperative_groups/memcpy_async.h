// Group copies to shared memory. The copy is done when the call returns, so wait only synchronises;
// a kernel that forgets to wait still meets the missing barrier, because each thread copies its
// share.
#pragma once

#include <cooperative_groups.h>

namespace cuda {

// A number of bytes that is a multiple of `Alignment`, as are the addresses.
template <size_t Alignment>
struct aligned_size_t {
  size_t value;
  WF_INTRINSIC constexpr explicit aligned_size_t(size_t bytes) : value(bytes) {}
  WF_INTRINSIC constexpr operator size_t() const { return value; }
};

}  // namespace cuda

namespace cooperative_groups {

template <class Group, class To, class From>
WF_INTRINSIC void memcpy_async(const Group& group, To* to, const From* from, size_t bytes) {
  char* target = reinterpret_cast<char*>(to);
  const char* source = reinterpret_cast<const char*>(from);
  for (size_t i = group.thread_rank(); i < bytes; i += group.num_threads()) target[i] = source[i];
}
template <class Group>
WF_INTRINSIC WF_CONVERGENT void wait(const Group& group, WF_HERE) {
  group.sync(wf_file, wf_line);
}
template <unsigned Stages, class Group>
WF_INTRINSIC WF_CONVERGENT void wait_prior(const Group& group, WF_HERE) {
  group.sync(wf_file, wf_line);
}

}  // namespace cooperative_groups
