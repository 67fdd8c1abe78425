// Cooperative groups for the CPU device: thread blocks, grids, tiles of up to 32 threads, coalesced
// groups and the type-erased thread_group, over the runtime's barriers and warp operations. Not
// here: tiles of more than 32 threads, clusters, multi-device grids.
#pragma once

#include <cuda_runtime.h>

#include "wf_lane_groups.h"

namespace cooperative_groups {

class thread_block {
 public:
  static WF_INTRINSIC WF_CONVERGENT void sync(WF_HERE) {
    wf_block_barrier(::wf_simt::BarrierOp::plain, 0, wf_file, wf_line);
  }
  // As in CUDA's own header: all happens in the wait.
  struct arrival_token {};
  static WF_INTRINSIC arrival_token barrier_arrive() { return {}; }
  static WF_INTRINSIC WF_CONVERGENT void barrier_wait(arrival_token&&, WF_HERE) {
    sync(wf_file, wf_line);
  }
  static WF_INTRINSIC unsigned thread_rank() { return ::wf_simt::context.linear; }
  static WF_INTRINSIC unsigned num_threads() { return ::wf_simt::context.threads; }
  static WF_INTRINSIC unsigned size() { return num_threads(); }
  static WF_INTRINSIC dim3 thread_index() { return threadIdx; }
  static WF_INTRINSIC dim3 group_index() { return blockIdx; }
  static WF_INTRINSIC dim3 dim_threads() { return blockDim; }
  static WF_INTRINSIC dim3 group_dim() { return blockDim; }

 private:
  friend WF_INTRINSIC thread_block this_thread_block();
  thread_block() = default;
};
WF_INTRINSIC thread_block this_thread_block() { return {}; }

class grid_group {
 public:
  static WF_INTRINSIC bool is_valid() { return true; }
  static WF_INTRINSIC WF_CONVERGENT void sync(WF_HERE) { wf_grid_barrier(wf_file, wf_line); }
  struct arrival_token {};
  static WF_INTRINSIC arrival_token barrier_arrive() { return {}; }
  static WF_INTRINSIC WF_CONVERGENT void barrier_wait(arrival_token&&, WF_HERE) {
    sync(wf_file, wf_line);
  }
  static WF_INTRINSIC unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  static WF_INTRINSIC unsigned long long block_rank() {
    return blockIdx.x +
           gridDim.x * (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
  }
  static WF_INTRINSIC unsigned long long thread_rank() {
    return block_rank() * ::wf_simt::context.threads + ::wf_simt::context.linear;
  }
  static WF_INTRINSIC unsigned long long num_threads() {
    return num_blocks() * ::wf_simt::context.threads;
  }
  static WF_INTRINSIC unsigned long long size() { return num_threads(); }
  static WF_INTRINSIC dim3 block_index() { return blockIdx; }
  static WF_INTRINSIC dim3 dim_blocks() { return gridDim; }
  static WF_INTRINSIC dim3 group_dim() { return gridDim; }

 private:
  friend WF_INTRINSIC grid_group this_grid();
  grid_group() = default;
};
WF_INTRINSIC grid_group this_grid() { return {}; }

// A group of any kind, as parameters of device functions take it.
class thread_group {
 public:
  WF_INTRINSIC thread_group(thread_block) : kind_(block) {}
  WF_INTRINSIC thread_group(grid_group) : kind_(grid) {}
  template <unsigned Size, class Parent>
  WF_INTRINSIC thread_group(thread_block_tile<Size, Parent> tile)
      : kind_(lanes), mask_(tile.wf_mask()) {}
  WF_INTRINSIC thread_group(coalesced_group group) : kind_(lanes), mask_(group.wf_mask()) {}

  WF_INTRINSIC WF_CONVERGENT void sync(WF_HERE) const {
    if (kind_ == block) {
      thread_block::sync(wf_file, wf_line);
    } else if (kind_ == grid) {
      grid_group::sync(wf_file, wf_line);
    } else {
      __syncwarp(mask_, wf_file, wf_line);
    }
  }
  WF_INTRINSIC unsigned long long thread_rank() const {
    return kind_ == block  ? thread_block::thread_rank()
           : kind_ == grid ? grid_group::thread_rank()
                           : wf_groups::rank_in(mask_);
  }
  WF_INTRINSIC unsigned long long num_threads() const {
    return kind_ == block  ? thread_block::num_threads()
           : kind_ == grid ? grid_group::num_threads()
                           : static_cast<unsigned>(__popc(mask_));
  }
  WF_INTRINSIC unsigned long long size() const { return num_threads(); }

 private:
  enum Kind { block, grid, lanes };
  friend WF_INTRINSIC thread_group tiled_partition(const thread_group& parent, unsigned size);
  WF_INTRINSIC thread_group(Kind kind, unsigned mask) : kind_(kind), mask_(mask) {}
  Kind kind_;
  unsigned mask_ = 0;
};

template <unsigned Size>
WF_INTRINSIC thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) {
  return {};
}
template <unsigned Size, unsigned ParentSize, class Parent>
WF_INTRINSIC thread_block_tile<Size, thread_block_tile<ParentSize, Parent>> tiled_partition(
    const thread_block_tile<ParentSize, Parent>&) {
  static_assert(Size <= ParentSize, "a tile is not larger than its parent");
  return {};
}
// `size` is a power of two up to 32.
WF_INTRINSIC thread_group tiled_partition(const thread_group&, unsigned size) {
  return thread_group(thread_group::lanes, wf_groups::tile_mask(size));
}

WF_INTRINSIC thread_block_tile<1> this_thread() { return {}; }

// Calls the function in the first thread of the group.
template <class Group, class Function, class... Arguments>
WF_INTRINSIC void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) function(static_cast<Arguments&&>(arguments)...);
}

// The same for tiles and coalesced groups; every thread gets its result.
template <class Group, class Function>
WF_INTRINSIC WF_CONVERGENT auto invoke_one_broadcast(const Group& group, Function&& function,
                                                     WF_HERE) {
  decltype(function()) result{};
  if (group.thread_rank() == 0) result = function();
  return group.shfl(result, 0, wf_file, wf_line);
}

template <class Group>
WF_INTRINSIC WF_CONVERGENT void sync(const Group& group, WF_HERE) {
  group.sync(wf_file, wf_line);
}
template <class Group>
WF_INTRINSIC auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
WF_INTRINSIC auto group_size(const Group& group) {
  return group.num_threads();
}

}  // namespace cooperative_groups
