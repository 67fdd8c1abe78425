// Prefix scans of logical warps.
#pragma once

#include "../wf_cub_common.cuh"

namespace cub {

template <class T, int LogicalWarpThreads = 32, int PtxArch = 0>
class WarpScan {
  using Lanes = wf_cub::Lanes<LogicalWarpThreads>;

 public:
  struct TempStorage {};
  WF_INTRINSIC explicit WarpScan(TempStorage&) {}

  template <class Operation>
  WF_INTRINSIC WF_CONVERGENT void InclusiveScan(T input, T& output, Operation operation, WF_HERE) {
    output = Lanes::inclusive(input, operation, wf_file, wf_line);
  }
  template <class Operation>
  WF_INTRINSIC WF_CONVERGENT void InclusiveScan(T input, T& output, Operation operation,
                                                T& aggregate, WF_HERE) {
    output = Lanes::inclusive(input, operation, wf_file, wf_line);
    aggregate = Lanes::get(output, LogicalWarpThreads - 1, wf_file, wf_line);
  }
  template <class Operation>
  WF_INTRINSIC WF_CONVERGENT void ExclusiveScan(T input, T& output, T initial, Operation operation,
                                                T& aggregate, WF_HERE) {
    T inclusive;
    InclusiveScan(input, inclusive, operation, aggregate, wf_file, wf_line);
    const unsigned rank = Lanes::rank();
    const T before = Lanes::get(inclusive, rank == 0 ? 0 : rank - 1, wf_file, wf_line);
    output = rank == 0 ? initial : operation(initial, before);
  }
  template <class Operation>
  WF_INTRINSIC WF_CONVERGENT void ExclusiveScan(T input, T& output, T initial, Operation operation,
                                                WF_HERE) {
    T aggregate;
    ExclusiveScan(input, output, initial, operation, aggregate, wf_file, wf_line);
  }
  // The first lane gets nothing.
  template <class Operation>
  WF_INTRINSIC WF_CONVERGENT void ExclusiveScan(T input, T& output, Operation operation, WF_HERE) {
    const T inclusive = Lanes::inclusive(input, operation, wf_file, wf_line);
    const unsigned rank = Lanes::rank();
    const T before = Lanes::get(inclusive, rank == 0 ? 0 : rank - 1, wf_file, wf_line);
    if (rank != 0) output = before;
  }
  template <class Operation>
  WF_INTRINSIC WF_CONVERGENT void Scan(T input, T& inclusive, T& exclusive, Operation operation,
                                       WF_HERE) {
    InclusiveScan(input, inclusive, operation, wf_file, wf_line);
    ExclusiveScan(input, exclusive, operation, wf_file, wf_line);
  }
  WF_INTRINSIC WF_CONVERGENT void InclusiveSum(T input, T& output, WF_HERE) {
    InclusiveScan(input, output, Sum(), wf_file, wf_line);
  }
  WF_INTRINSIC WF_CONVERGENT void InclusiveSum(T input, T& output, T& aggregate, WF_HERE) {
    InclusiveScan(input, output, Sum(), aggregate, wf_file, wf_line);
  }
  WF_INTRINSIC WF_CONVERGENT void ExclusiveSum(T input, T& output, WF_HERE) {
    ExclusiveScan(input, output, T(0), Sum(), wf_file, wf_line);
  }
  WF_INTRINSIC WF_CONVERGENT void ExclusiveSum(T input, T& output, T& aggregate, WF_HERE) {
    ExclusiveScan(input, output, T(0), Sum(), aggregate, wf_file, wf_line);
  }
  WF_INTRINSIC WF_CONVERGENT T Broadcast(T input, unsigned source, WF_HERE) {
    return Lanes::get(input, source, wf_file, wf_line);
  }
};

}  // namespace cub
