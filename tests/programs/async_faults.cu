// Kernels with one fault each around split barriers and asynchronous copies and, by the macro
// FAULTY, their correct twins: as in faults.cu,
//
//   async_faults NAME faulty|correct
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/pipeline>

#include "check.h"

#define KERNEL           \
  template <bool Faulty> \
  __global__ void

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
constexpr int threads = 96;

// The neighbour's element, of threads that wait for a barrier in between.
template <class Synchronise>
__device__ void pass_on(float* data, Barrier& barrier, int expected, Synchronise synchronise) {
  __shared__ float tile[threads];
  if (threadIdx.x == 0) init(&barrier, expected);
  __syncthreads();
  tile[threadIdx.x] = data[threadIdx.x];
  synchronise();
  data[threadIdx.x] = tile[(threadIdx.x + 1) % threads];  // fault: barrier_without_wait
}
KERNEL barrier_without_wait(float* data) {
  __shared__ Barrier barrier;
  pass_on(data, barrier, threads, [&] {
    Barrier::arrival_token token = barrier.arrive();
    if (!Faulty) barrier.wait(std::move(token));
  });
}
KERNEL barrier_of_too_many(float* data) {
  __shared__ Barrier barrier;
  pass_on(data, barrier, threads + (Faulty ? 1 : 0), [&] {
    barrier.arrive_and_wait();  // fault: barrier_of_too_many
  });
}
KERNEL barrier_not_made(float* data) {
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier, threads);
  if (!Faulty) __syncthreads();
  barrier.arrive_and_wait();  // fault: barrier_not_made
  data[threadIdx.x] = 1;
}
KERNEL barrier_left_alone(float* data) {
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier, threads);
  __syncthreads();
  for (int phase = 0; phase < 3; ++phase) {
    if (phase == 2 && threadIdx.x >= 90) {
      if (!Faulty) barrier.arrive_and_drop();
      return;
    }
    barrier.arrive_and_wait();  // fault: barrier_left_alone
  }
  data[threadIdx.x] = 1;
}

KERNEL copy_read_early(float* data) {
  __shared__ alignas(16) float tile[threads];
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, tile, data, sizeof tile);
  Faulty ? block.sync() : cg::wait(block);
  const float left = tile[(threadIdx.x + 1) % threads];  // fault: copy_read_early
  block.sync();
  data[threadIdx.x] = left;
  cg::wait(block);
}
KERNEL copy_not_committed(float* data) {
  __shared__ float tile[threads];
  __pipeline_memcpy_async(&tile[threadIdx.x], &data[threadIdx.x], sizeof(float));
  if (!Faulty) __pipeline_commit();
  __pipeline_wait_prior(0);
  data[threadIdx.x] = tile[threadIdx.x];  // fault: copy_not_committed
}
KERNEL copy_of_other_thread(float* data) {
  __shared__ float tile[threads];
  __pipeline_memcpy_async(&tile[threadIdx.x], &data[threadIdx.x], sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (!Faulty) __syncthreads();
  const float right = tile[(threadIdx.x + 1) % threads];  // fault: copy_of_other_thread
  __syncthreads();
  data[threadIdx.x] = right;
}
KERNEL copy_into_stage_in_use(float* data) {
  __shared__ float stage[2][threads];
  float sum = 0;
  for (int step = 0; step < 3; ++step) {
    float* const to = &stage[Faulty ? 0 : step % 2][threadIdx.x];
    __pipeline_memcpy_async(to, &data[threadIdx.x], 4);  // fault: copy_into_stage_in_use
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    sum += stage[Faulty ? 0 : step % 2][(threadIdx.x + 1) % threads];
  }
  __syncthreads();
  data[threadIdx.x] = sum;
}
KERNEL copy_misaligned(float* data) {
  __shared__ alignas(16) float tile[threads];
  auto line = cuda::make_pipeline();
  line.producer_acquire();
  if (threadIdx.x == 0) {
    const float* from = data + (Faulty ? 1 : 4);
    cuda::memcpy_async(tile, from, cuda::aligned_size_t<16>(64), line);  // fault: copy_misaligned
  }
  line.producer_commit();
  line.consumer_wait();
  if (threadIdx.x == 0) data[0] = tile[3];
}
KERNEL copy_out_of_bounds(float* data) {
  __shared__ alignas(16) float tile[threads];
  const cg::thread_block block = cg::this_thread_block();
  const size_t bytes = sizeof tile + (Faulty ? 16 : 0);
  cg::memcpy_async(block, tile, data, bytes);  // fault: copy_out_of_bounds
  cg::wait(block);
  data[threadIdx.x] = tile[threadIdx.x];
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const bool faulty = std::strcmp(argv[2], "faulty") == 0;
  const Buffer<float> data(std::vector<float>(200, 1));
#define RUN(name)                                                                   \
  if (std::strcmp(argv[1], #name) == 0) {                                           \
    (faulty ? name<true> : name<false>)<<<1, threads>>>(static_cast<float*>(data)); \
  }
  RUN(barrier_without_wait)
  RUN(barrier_of_too_many)
  RUN(barrier_not_made)
  RUN(barrier_left_alone)
  RUN(copy_read_early)
  RUN(copy_not_committed)
  RUN(copy_of_other_thread)
  RUN(copy_into_stage_in_use)
  RUN(copy_misaligned)
  RUN(copy_out_of_bounds)
  CHECK_CUDA(cudaDeviceSynchronize());
  return failed_checks;
}
