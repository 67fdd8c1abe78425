// Prefix scans over tiles and coalesced groups, in log2(size) shuffles.
#pragma once

#include <cooperative_groups/reduce.h>

namespace cooperative_groups {

template <class Group, class T, class Operation>
WF_INTRINSIC WF_CONVERGENT T inclusive_scan(const Group& group, T value, Operation operation,
                                            WF_HERE) {
  for (unsigned distance = 1; distance < group.num_threads(); distance *= 2) {
    const T before = group.shfl_up(value, distance, wf_file, wf_line);
    if (group.thread_rank() >= distance) value = operation(before, value);
  }
  return value;
}
template <class Group, class T>
WF_INTRINSIC WF_CONVERGENT T inclusive_scan(const Group& group, T value, WF_HERE) {
  return inclusive_scan(group, value, plus<T>(), wf_file, wf_line);
}
// The first thread gets T().
template <class Group, class T, class Operation>
WF_INTRINSIC WF_CONVERGENT T exclusive_scan(const Group& group, T value, Operation operation,
                                            WF_HERE) {
  const T inclusive = inclusive_scan(group, value, operation, wf_file, wf_line);
  const T before = group.shfl_up(inclusive, 1, wf_file, wf_line);
  return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T>
WF_INTRINSIC WF_CONVERGENT T exclusive_scan(const Group& group, T value, WF_HERE) {
  return exclusive_scan(group, value, plus<T>(), wf_file, wf_line);
}

}  // namespace cooperative_groups
