// Stores of a block, `Items` elements per thread: neighbours (blocked), or with BLOCK_STORE_STRIPED
// elements that lie a block apart. No algorithm needs its temporary storage here.
#pragma once

#include "../wf_cub_common.cuh"

namespace cub {

enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <class T, int BlockDimX, int Items, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT,
          int BlockDimY = 1, int BlockDimZ = 1, int PtxArch = 0>
class BlockStore {
 public:
  struct TempStorage {};
  WF_INTRINSIC BlockStore() = default;
  WF_INTRINSIC explicit BlockStore(TempStorage&) {}

  template <class Iterator>
  WF_INTRINSIC void Store(Iterator to, T (&items)[Items]) {
    for (int i = 0; i < Items; ++i) to[position(i)] = items[i];
  }
  template <class Iterator>
  WF_INTRINSIC void Store(Iterator to, T (&items)[Items], int valid) {
    for (int i = 0; i < Items; ++i) {
      if (position(i) < valid) to[position(i)] = items[i];
    }
  }

 private:
  static WF_INTRINSIC int position(int item) {
    const int thread = static_cast<int>(wf_cub::thread());
    return Algorithm == BLOCK_STORE_STRIPED ? item * BlockDimX * BlockDimY * BlockDimZ + thread
                                            : thread * Items + item;
  }
};

}  // namespace cub
