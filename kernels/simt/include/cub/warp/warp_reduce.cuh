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
  WF_INTRINSIC WF_CONVERGENT T Max(T input, WF_HERE) {
    return Reduce(input, cub::Max(), wf_file, wf_line);
  }
  WF_INTRINSIC WF_CONVERGENT T Min(T input, WF_HERE) {
    return Reduce(input, cub::Min(), wf_file, wf_line);
  }
};

}  // namespace cub
