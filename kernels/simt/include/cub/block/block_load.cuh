// Loads of a block, `Items` elements per thread: neighbours (blocked), or with BLOCK_LOAD_STRIPED
// elements that lie a block apart. No algorithm needs its temporary storage here.
#pragma once

#include "../wf_cub_common.cuh"

namespace cub {

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};

template <class T, int BlockDimX, int Items, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT,
          int BlockDimY = 1, int BlockDimZ = 1, int PtxArch = 0>
class BlockLoad {
 public:
  struct TempStorage {};
  WF_INTRINSIC BlockLoad() = default;
  WF_INTRINSIC explicit BlockLoad(TempStorage&) {}

  template <class Iterator>
  WF_INTRINSIC void Load(Iterator from, T (&items)[Items]) {
    for (int i = 0; i < Items; ++i) items[i] = from[position(i)];
  }
  // Items at `valid` and beyond stay as they are.
  template <class Iterator>
  WF_INTRINSIC void Load(Iterator from, T (&items)[Items], int valid) {
    for (int i = 0; i < Items; ++i) {
      if (position(i) < valid) items[i] = from[position(i)];
    }
  }
  template <class Iterator, class Default>
  WF_INTRINSIC void Load(Iterator from, T (&items)[Items], int valid, Default otherwise) {
    for (int i = 0; i < Items; ++i) {
      items[i] =
          position(i) < valid ? static_cast<T>(from[position(i)]) : static_cast<T>(otherwise);
    }
  }

 private:
  static WF_INTRINSIC int position(int item) {
    const int thread = static_cast<int>(wf_cub::thread());
    return Algorithm == BLOCK_LOAD_STRIPED ? item * BlockDimX * BlockDimY * BlockDimZ + thread
                                           : thread * Items + item;
  }
};

}  // namespace cub
