// The kernels of simt_kernels.cu (the correct ones) and simt_faulty_kernels.cu by name: the value
// of the attribute `kernel` of their operator, which has an input x and an output y, float32
// vectors of n elements each.
#pragma once

enum SimtKernel {
  // Correct ones: y is a function of x that simt_test.cc knows.
  kernel_double,           // y = 2 x, no barrier
  kernel_reverse_block,    // each block of 64 reversed, through static shared memory
  kernel_dynamic_reverse,  // the same through dynamic shared memory
  kernel_warp_sum,         // every element: the sum of its warp, by xor shuffles
  kernel_tile_sum,         // the sum of its group of 8 lanes, by shuffles of width 8
  kernel_partial_mask,     // even lanes get the sum of the even lanes, odd ones of the odd
  kernel_votes,            // lane counts from ballot, any, all, match
  kernel_barrier_count,    // __syncthreads_count/and/or
  kernel_spin_lock,        // a counter under a lock of atomicCAS
  kernel_last_block,       // the last block to finish adds the partial sums
  kernel_active_mask,      // number of lanes at an __activemask in a branch
  kernel_cooperative,      // grid barrier: y = sum of the first elements of all blocks
  kernel_many_barriers,    // 1000 barriers
  kernel_thread_order,     // y[position at which the thread starts] = its index
  kernel_unset_shared,     // y = shared memory as the block finds it
  kernel_device_memory,    // through cudaMalloc, cudaMemset and cudaMemcpy
  kernel_index_3d,         // blocks and grids of three dimensions

  // Faulty ones.
  kernel_read_past_end,
  kernel_write_before_begin,
  kernel_shared_overflow,
  kernel_dynamic_overflow,
  kernel_copy_past_end,
  kernel_signed_overflow,
  kernel_misaligned,
  kernel_divergent_barrier,
  kernel_barrier_against_shuffle,
  kernel_exit_before_barrier,
  kernel_shuffle_from_exited,
  kernel_shuffle_outside_mask,
  kernel_warp_deadlock,
  kernel_null_write,
  kernel_wild_call,
  kernel_stack_overflow,
  kernel_endless_loop,
  kernel_endless_yield,
  kernel_host_loop,
  kernel_assertion,
  kernel_exit,
  kernel_throw,
  kernel_many_faults,
  kernel_endless_barrier,
  kernel_endless_shuffle,
  kernel_grid_exited_thread,    // one thread returns before grid.sync()
  kernel_grid_exited_block,     // one block does
  kernel_grid_against_barrier,  // threads of a block wait at grid.sync() and at __syncthreads()
  kernel_grid_not_cooperative,  // grid.sync() in an ordinary launch

  // Launches that CUDA rejects.
  launch_no_blocks,
  launch_too_many_threads,
  launch_block_z,
  launch_grid_y,
  launch_shared,
  launch_shared_opted_in,
  launch_shared_too_large,
};
