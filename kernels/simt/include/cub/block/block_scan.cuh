// Prefix scans of a block: each warp scans, then adds what the warps before it had.
#pragma once

#include "../wf_cub_common.cuh"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int BlockDimX, BlockScanAlgorithm Algorithm = BLOCK_SCAN_RAKING,
          int BlockDimY = 1, int BlockDimZ = 1, int PtxArch = 0>
class BlockScan {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ;
  static constexpr int warps = (threads + 31) / 32;

 public:
  struct TempStorage {
    Uninitialized<T> warp_totals[warps];
    Uninitialized<T> prefix;
  };
  WF_INTRINSIC explicit BlockScan(TempStorage& storage) : storage_(storage) {}

  template <class Operation>
  WF_INTRINSIC WF_CONVERGENT void InclusiveScan(T input, T& output, Operation operation,
                                                T& aggregate, WF_HERE) {
    T before;
    scan(input, before, output, operation, aggregate, wf_file, wf_line);
  }
  template <class Operation>
  WF_INTRINSIC WF_CONVERGENT void InclusiveScan(T input, T& output, Operation operation, WF_HERE) {
    T aggregate;
    InclusiveScan(input, output, operation, aggregate, wf_file, wf_line);
  }
  template <class Operation>
  WF_INTRINSIC WF_CONVERGENT void ExclusiveScan(T input, T& output, T initial, Operation operation,
                                                T& aggregate, WF_HERE) {
    T before, inclusive;
    scan(input, before, inclusive, operation, aggregate, wf_file, wf_line);
    output = wf_cub::thread() == 0 ? initial : operation(initial, before);
  }
  template <class Operation>
  WF_INTRINSIC WF_CONVERGENT void ExclusiveScan(T input, T& output, T initial, Operation operation,
                                                WF_HERE) {
    T aggregate;
    ExclusiveScan(input, output, initial, operation, aggregate, wf_file, wf_line);
  }
  // Thread 0 gets nothing that means anything.
  template <class Operation>
  WF_INTRINSIC WF_CONVERGENT void ExclusiveScan(T input, T& output, Operation operation, WF_HERE) {
    T inclusive, aggregate;
    scan(input, output, inclusive, operation, aggregate, wf_file, wf_line);
  }

  // Of `Items` neighbours in each thread.
  template <int Items, class Operation>
  WF_INTRINSIC WF_CONVERGENT void InclusiveScan(T (&inputs)[Items], T (&outputs)[Items],
                                                Operation operation, T& aggregate, WF_HERE) {
    T before, inclusive;
    scan(wf_cub::reduce_items(inputs, operation), before, inclusive, operation, aggregate, wf_file,
         wf_line);
    T running = wf_cub::thread() == 0 ? inputs[0] : operation(before, inputs[0]);
    outputs[0] = running;
    for (int i = 1; i < Items; ++i) outputs[i] = running = operation(running, inputs[i]);
  }
  template <int Items, class Operation>
  WF_INTRINSIC WF_CONVERGENT void InclusiveScan(T (&inputs)[Items], T (&outputs)[Items],
                                                Operation operation, WF_HERE) {
    T aggregate;
    InclusiveScan(inputs, outputs, operation, aggregate, wf_file, wf_line);
  }
  template <int Items, class Operation>
  WF_INTRINSIC WF_CONVERGENT void ExclusiveScan(T (&inputs)[Items], T (&outputs)[Items], T initial,
                                                Operation operation, T& aggregate, WF_HERE) {
    T before, inclusive;
    scan(wf_cub::reduce_items(inputs, operation), before, inclusive, operation, aggregate, wf_file,
         wf_line);
    T running = wf_cub::thread() == 0 ? initial : operation(initial, before);
    for (int i = 0; i < Items; ++i) {
      const T item = inputs[i];  // inputs and outputs may be one array
      outputs[i] = running;
      running = operation(running, item);
    }
  }
  template <int Items, class Operation>
  WF_INTRINSIC WF_CONVERGENT void ExclusiveScan(T (&inputs)[Items], T (&outputs)[Items], T initial,
                                                Operation operation, WF_HERE) {
    T aggregate;
    ExclusiveScan(inputs, outputs, initial, operation, aggregate, wf_file, wf_line);
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
  template <int Items>
  WF_INTRINSIC WF_CONVERGENT void InclusiveSum(T (&inputs)[Items], T (&outputs)[Items], WF_HERE) {
    InclusiveScan(inputs, outputs, Sum(), wf_file, wf_line);
  }
  template <int Items>
  WF_INTRINSIC WF_CONVERGENT void InclusiveSum(T (&inputs)[Items], T (&outputs)[Items],
                                               T& aggregate, WF_HERE) {
    InclusiveScan(inputs, outputs, Sum(), aggregate, wf_file, wf_line);
  }
  template <int Items>
  WF_INTRINSIC WF_CONVERGENT void ExclusiveSum(T (&inputs)[Items], T (&outputs)[Items], WF_HERE) {
    ExclusiveScan(inputs, outputs, T(0), Sum(), wf_file, wf_line);
  }
  template <int Items>
  WF_INTRINSIC WF_CONVERGENT void ExclusiveSum(T (&inputs)[Items], T (&outputs)[Items],
                                               T& aggregate, WF_HERE) {
    ExclusiveScan(inputs, outputs, T(0), Sum(), aggregate, wf_file, wf_line);
  }

  // With what came before the block: the first warp calls `prefix(aggregate of the block)`, and
  // what its first lane returns is put before everything.
  template <class Prefix>
  WF_INTRINSIC WF_CONVERGENT void ExclusiveSum(T input, T& output, Prefix& prefix, WF_HERE) {
    T aggregate;
    ExclusiveScan(input, output, T(0), Sum(), aggregate, wf_file, wf_line);
    output = output + before_block(prefix, aggregate, wf_file, wf_line);
  }
  template <class Prefix>
  WF_INTRINSIC WF_CONVERGENT void InclusiveSum(T input, T& output, Prefix& prefix, WF_HERE) {
    T aggregate;
    InclusiveScan(input, output, Sum(), aggregate, wf_file, wf_line);
    output = before_block(prefix, aggregate, wf_file, wf_line) + output;
  }

 private:
  // `before` is the result of the threads before this one; not meant in thread 0.
  template <class Operation>
  WF_INTRINSIC WF_CONVERGENT void scan(T input, T& before, T& inclusive, Operation operation,
                                       T& aggregate, const char* file, int line) {
    using Lanes = wf_cub::Lanes<32>;
    const unsigned thread = wf_cub::thread(), warp = thread / 32, lane = thread % 32;
    inclusive = Lanes::inclusive(input, operation, file, line);
    if (lane == 31 || thread == threads - 1) storage_.warp_totals[warp].Alias() = inclusive;
    before = Lanes::get(inclusive, lane == 0 ? 0 : lane - 1, file, line);
    __syncthreads(file, line);
    aggregate = storage_.warp_totals[0].Alias();
    T earlier = aggregate;  // of the warps before this one
    for (unsigned other = 1; other < warps; ++other) {
      if (other == warp) earlier = aggregate;
      aggregate = operation(aggregate, storage_.warp_totals[other].Alias());
    }
    if (warp == 0) return;
    before = lane == 0 ? earlier : operation(earlier, before);
    inclusive = operation(earlier, inclusive);
  }
  template <class Prefix>
  WF_INTRINSIC WF_CONVERGENT T before_block(Prefix& prefix, const T& aggregate, const char* file,
                                            int line) {
    if (wf_cub::thread() < 32) {
      const T before = prefix(aggregate);
      if (wf_cub::thread() == 0) storage_.prefix.Alias() = before;
    }
    __syncthreads(file, line);
    return storage_.prefix.Alias();
  }
  TempStorage& storage_;
};

}  // namespace cub
