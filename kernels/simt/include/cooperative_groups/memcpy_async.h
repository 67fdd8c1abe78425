// Copies to shared memory by a group; each is a batch of its own, which wait() and wait_prior()
// wait for before the group synchronises.
#pragma once

#include <cooperative_groups.h>

#include "../wf_async.h"

namespace cooperative_groups {

template <class Group, class T, class Size>
WF_INTRINSIC void memcpy_async(const Group& group, T* to, const T* from, const Size& bytes) {
  constexpr size_t of_type = wf_async::AlignmentOf<T>::value;
  const size_t of_size = wf_async::alignment_of_size(bytes);
  wf_async::issue(group, to, from, static_cast<size_t>(bytes),
                  of_size > of_type ? of_size : of_type);
  wf_async_commit();
}
// Numbers of elements.
template <class Group, class T, class ToSize, class FromSize>
WF_INTRINSIC void memcpy_async(const Group& group, T* to, const ToSize& to_count, const T* from,
                               const FromSize& from_count) {
  const size_t count = static_cast<size_t>(to_count) < static_cast<size_t>(from_count)
                           ? static_cast<size_t>(to_count)
                           : static_cast<size_t>(from_count);
  memcpy_async(group, to, from, count * sizeof(T));
}
template <class Group>
WF_INTRINSIC WF_CONVERGENT void wait(const Group& group, WF_HERE) {
  wf_async_wait(0);
  group.sync(wf_file, wf_line);
}
// For all but the last `Stages` copies.
template <unsigned Stages, class Group>
WF_INTRINSIC WF_CONVERGENT void wait_prior(const Group& group, WF_HERE) {
  wf_async_wait(Stages);
  group.sync(wf_file, wf_line);
}

}  // namespace cooperative_groups
