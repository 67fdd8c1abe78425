// The programs of race_kernels.cu: each has one planted fault and a twin without it. The attribute
// `kernel` of their operator (simt_fixture.h) is twice the program, plus 1 for the twin.
#pragma once

enum RaceProgram {
  raw_shared,             // a neighbour's value is read without a barrier
  war_shared,             // the next iteration overwrites what others still read
  waw_shared,             // two threads store different values in one place
  inter_block_sum,        // blocks add to one element without an atomic
  missing_syncwarp,       // lanes exchange through shared memory
  tile_sync,              // tiles of 8 are synchronised, but a lane reads from the next tile
  volatile_warp,          // warp-synchronous reduction on a volatile pointer
  uninitialized_shared,   // half of an array is never stored
  uninitialized_global,   // += on an output that nobody has set
  uninitialized_malloc,   // memory from cudaMalloc that nobody has set
  misaligned_float4,      // a struct copy from an address that is not a multiple of 16
  misaligned_store,       // the same, to such an address
  power_of_two,           // a tree reduction that reads past the last thread of odd blocks
  partial_warp,           // a full-mask shuffle in a warp of 8 lanes
  template_shared,        // in a function template with an array of its own
  dynamic_shared,         // in an extern __shared__ array
  atomic_then_plain,      // an atomic sum is read without a barrier
  missing_fence,          // last-block reduction whose partial sums are not fenced
  lock_without_fence,     // a spin lock that is released without a fence
  look_back,              // status flags and values of earlier blocks, without a fence
  device_variable,        // a plain counter in a __device__ variable
  half_neighbours,        // 16-bit elements: neighbours are no conflict, the same one is
  grid_phases,            // two phases of a cooperative launch without grid.sync()
  shuffle_is_no_barrier,  // a shuffle between store and load orders nothing
  two_streams,            // a launch reads what one on another stream writes, without an event
  race_program_count
};

// The programs of race_honest_kernels.cu.
enum HonestProgram {
  cas_loop,
  guide_sum,
  warp_leaders,
  mutex_of_blocks,
  flag_in_block,
  packed_look_back,
  same_value,
  histogram,
  queue,
  double_buffer,
  tiles,
  branches,
  neighbours,
  arena,
  grid_rounds,
  honest_program_count
};
