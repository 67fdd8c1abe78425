// Reductions of a block: each warp reduces, and thread 0, which gets the result, combines the warps
// in order.
#pragma once

#include "../wf_cub_common.cuh"

namespace cub {

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};

template <class T, int BlockDimX, BlockReduceAlgorithm Algorithm = BLOCK_REDUCE_WARP_REDUCTIONS,
          int BlockDimY = 1, int BlockDimZ = 1, int PtxArch = 0>
class BlockReduce {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ;
  static constexpr int warps = (threads + 31) / 32;

 public:
  struct TempStorage {
    Uninitialized<T> warp_totals[warps];
  };
  WF_INTRINSIC explicit BlockReduce(TempStorage& storage) : storage_(storage) {}

  template <class Operation>
  WF_INTRINSIC WF_CONVERGENT T Reduce(T input, Operation operation, int valid, WF_HERE) {
    const int warp = static_cast<int>(wf_cub::thread() / 32);
    const int in_warp = valid - 32 * warp < 32 ? valid - 32 * warp : 32;
    T total = wf_cub::Lanes<32>::reduce(input, static_cast<unsigned>(in_warp < 0 ? 0 : in_warp),
                                        operation, wf_file, wf_line);
    if (wf_cub::thread() % 32 == 0) storage_.warp_totals[warp].Alias() = total;
    __syncthreads(wf_file, wf_line);
    if (wf_cub::thread() == 0) {
      for (int other = 1; other < warps && 32 * other < valid; ++other) {
        total = operation(total, storage_.warp_totals[other].Alias());
      }
    }
    return total;
  }
  template <class Operation>
  WF_INTRINSIC WF_CONVERGENT T Reduce(T input, Operation operation, WF_HERE) {
    return Reduce(input, operation, threads, wf_file, wf_line);
  }
  template <int Items, class Operation>
  WF_INTRINSIC WF_CONVERGENT T Reduce(T (&inputs)[Items], Operation operation, WF_HERE) {
    return Reduce(wf_cub::reduce_items(inputs, operation), operation, threads, wf_file, wf_line);
  }
  WF_INTRINSIC WF_CONVERGENT T Sum(T input, WF_HERE) {
    return Reduce(input, cub::Sum(), threads, wf_file, wf_line);
  }
  WF_INTRINSIC WF_CONVERGENT T Sum(T input, int valid, WF_HERE) {
    return Reduce(input, cub::Sum(), valid, wf_file, wf_line);
  }
  template <int Items>
  WF_INTRINSIC WF_CONVERGENT T Sum(T (&inputs)[Items], WF_HERE) {
    return Reduce(inputs, cub::Sum(), wf_file, wf_line);
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
