// Reductions of logical warps; the result is that of their first lane.
#pragma once

#include "../wf_cub_common.cuh"

namespace cub {

template <class T, int LogicalWarpThreads = 32, int PtxArch = 0>
class WarpReduce {
  using Lanes = wf_cub::Lanes<LogicalWarpThreads>;

 public:
  struct TempStorage {};
  WF_INTRINSIC explicit WarpReduce(TempStorage&) {}

  template <class Operation>
  WF_INTRINSIC WF_CONVERGENT T Reduce(T input, Operation operation, WF_HERE) {
    return Lanes::reduce(input, LogicalWarpThreads, operation, wf_file, wf_line);
  }
  template <class Operation>
  WF_INTRINSIC WF_CONVERGENT T Reduce(T input, Operation operation, int valid_items, WF_HERE) {
    return Lanes::reduce(input, static_cast<unsigned>(valid_items), operation, wf_file, wf_line);
  }
  WF_INTRINSIC WF_CONVERGENT T Sum(T input, WF_HERE) {
    return Reduce(input, cub::Sum(), wf_file, wf_line);
  }
  WF_INTRINSIC WF_CONVERGENT T Sum(T input, int valid_items, WF_HERE) {
    return Reduce(input, cub::Sum(), valid_items, wf_file, wf_line);
  }
  // Of segments that begin, or end, at the lanes with the flag; the result of each is that of its
  // first lane.
  template <class Flag, class Operation>
  WF_INTRINSIC WF_CONVERGENT T HeadSegmentedReduce(T input, Flag head, Operation operation,
                                                   WF_HERE) {
    const unsigned heads = Lanes::ballot(head, wf_file, wf_line) >> 1;  // the next lane's
    return Lanes::segmented(input, heads, operation, wf_file, wf_line);
  }
  template <class Flag, class Operation>
  WF_INTRINSIC WF_CONVERGENT T TailSegmentedReduce(T input, Flag tail, Operation operation,
                                                   WF_HERE) {
    const unsigned tails = Lanes::ballot(tail, wf_file, wf_line);
    return Lanes::segmented(input, tails, operation, wf_file, wf_line);
  }
  template <class Flag>
  WF_INTRINSIC WF_CONVERGENT T HeadSegmentedSum(T input, Flag head, WF_HERE) {
    return HeadSegmentedReduce(input, head, cub::Sum(), wf_file, wf_line);
  }
  template <class Flag>
  WF_INTRINSIC WF_CONVERGENT T TailSegmentedSum(T input, Flag tail, WF_HERE) {
    return TailSegmentedReduce(input, tail, cub::Sum(), wf_file, wf_line);
  }
  WF_INTRINSIC WF_CONVERGENT T Max(T input, WF_HERE) {
    return Reduce(input, cub::Max(), wf_file, wf_line);
  }
  WF_INTRINSIC WF_CONVERGENT T Min(T input, WF_HERE) {
    return Reduce(input, cub::Min(), wf_file, wf_line);
  }
};

}  // namespace cub
