// Ways in which honest kernels let threads share memory, for race_test.cc: none may be accused.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "race_kernels.h"
#include "warpfuzz_kernel.h"

namespace {

namespace cg = cooperative_groups;

// The CUDA C++ Programming Guide's emulation of an atomic: its first load is a plain one.
__device__ float add_by_cas(float* address, float value) {
  auto* bits = reinterpret_cast<int*>(address);
  int old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __float_as_int(value + __int_as_float(assumed)));
  } while (assumed != old);
  return __int_as_float(old);
}
__device__ float cas_total;
__global__ void k_cas_loop(const float* x, float* y) {
  add_by_cas(&cas_total, x[blockIdx.x * blockDim.x + threadIdx.x]);
  y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// The guide's sum: one thread fences its block's partial sum, the last block adds them and resets
// the counter with a plain store.
__device__ unsigned finished;
__device__ float partial_sums[16];
__global__ void k_guide_sum(const float* x, float* y) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial_sums[blockIdx.x] = x[blockIdx.x];
    __threadfence();
    last = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  float sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += partial_sums[b];
  y[threadIdx.x] = sum;
  if (threadIdx.x == 0) finished = 0;
}

// Lanes store, __syncwarp(), the first lane fences and announces; the last warp of all reads.
__global__ void k_warp_leaders(const float* x, float* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
  __syncwarp();
  bool last = false;
  if (threadIdx.x % 32 == 0) {
    __threadfence();
    last = atomicInc(&finished, gridDim.x * 2 - 1) == gridDim.x * 2 - 1;
  }
  if (!__any_sync(0xffffffffu, last)) return;
  float sum = 0;
  for (unsigned k = threadIdx.x % 32; k < gridDim.x * blockDim.x; k += 32) sum += y[k];
  y[gridDim.x * blockDim.x + threadIdx.x % 32] = sum;
}

__device__ int mutex;
__device__ float guarded[2];
__global__ void k_mutex(const float* x, float* y) {
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&mutex, 0, 1) != 0) __nanosleep(10);
    __threadfence();
    guarded[0] += x[threadIdx.x];
    guarded[1] = guarded[0];
    __threadfence();
    *const_cast<volatile int*>(&mutex) = 0;
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// One warp waits for the other with a flag in shared memory.
__global__ void k_flag_in_block(const float* x, float* y) {
  __shared__ float value;
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    value = x[0];
    __threadfence_block();
    ready = 1;
  }
  if (threadIdx.x == 32) {
    while (ready == 0) __nanosleep(10);
    y[0] = value;
  }
}

// Status and value of a block in one word: no fence is needed.
__device__ unsigned tickets;
__device__ unsigned long long descriptors[16];
__global__ void k_packed_look_back(const float* x, float* y) {
  if (threadIdx.x != 0) return;
  const unsigned turn = atomicAdd(&tickets, 1);
  unsigned sum = static_cast<unsigned>(x[turn]);
  if (turn > 0) {
    unsigned long long word = 0;
    while ((word = __ldcg(&descriptors[turn - 1])) == 0) __nanosleep(10);
    sum += static_cast<unsigned>(word);
  }
  atomicExch(&descriptors[turn], 1ull << 32 | sum);
  y[turn] = sum;
}

__global__ void k_same_value(const float* x, float* y) {
  __shared__ int found;
  __shared__ float limit;
  found = 0;
  limit = x[3];  // all threads, and each reads what it has stored itself
  const float bound = limit;
  __syncthreads();
  if (x[threadIdx.x] > bound) found = 1;
  __syncthreads();
  y[threadIdx.x] = found;
}

__global__ void k_histogram(const float* x, float* y) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[static_cast<int>(x[threadIdx.x]) % 8], 1);
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(&y[threadIdx.x], static_cast<float>(bins[threadIdx.x]));
}

// Work from a queue, handed out through shared memory.
__global__ void k_queue(const float* x, float* y) {
  __shared__ unsigned item;
  for (;;) {
    if (threadIdx.x == 0) item = atomicAdd(&tickets, 1);
    __syncthreads();
    const unsigned mine = item;
    __syncthreads();
    if (mine >= 8) return;
    y[mine * blockDim.x + threadIdx.x] = x[mine];
  }
}

// Two buffers need one barrier per iteration.
__global__ void k_double_buffer(const float* x, float* y) {
  __shared__ float buffer[2][64];
  float sum = 0;
  for (int round = 0; round < 5; ++round) {
    buffer[round % 2][threadIdx.x] = x[threadIdx.x] + round;
    if (__syncthreads_or(round == 7)) break;
    sum += buffer[round % 2][63 - threadIdx.x];
  }
  y[threadIdx.x] = sum;
}

__global__ void k_tiles(const float* x, float* y) {
  __shared__ float values[64];
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  values[threadIdx.x] = x[threadIdx.x];
  tile.sync();
  for (unsigned half = 8; half > 0; half /= 2) {
    const float other = tile.thread_rank() < half ? values[threadIdx.x + half] : 0;
    tile.sync();
    if (tile.thread_rank() < half) values[threadIdx.x] += other;
    tile.sync();
  }
  cg::sync(block);
  y[threadIdx.x] = values[threadIdx.x / 16 * 16] + values[48 - threadIdx.x / 16 * 16];
}

__global__ void k_branches(const float* x, float* y) {
  __shared__ float values[32];
  values[threadIdx.x] = x[threadIdx.x];
  float sum = 0;
  if (threadIdx.x % 2 == 0) {
    const auto group = cg::coalesced_threads();
    group.sync();
    sum = values[threadIdx.x ^ 2];
  } else {
    __syncwarp(0xaaaaaaaau);
    sum = values[threadIdx.x ^ 2];
  }
  y[threadIdx.x] = sum;
}

// Neighbours in one word, and one wide access over what several threads have stored.
__global__ void k_neighbours(const float* x, float* y) {
  __shared__ alignas(16) unsigned char bytes[64];
  bytes[threadIdx.x] = static_cast<unsigned char>(x[threadIdx.x]);
  __syncthreads();
  const uint4 pack = reinterpret_cast<const uint4*>(bytes)[threadIdx.x / 16];
  reinterpret_cast<float2*>(y)[threadIdx.x] = {x[threadIdx.x], static_cast<float>(pack.x & 255)};
}

// One arena for two arrays of different types.
__global__ void k_arena(const float* x, float* y) {
  extern __shared__ char arena[];
  auto* values = reinterpret_cast<double*>(arena);
  auto* flags = reinterpret_cast<short*>(values + blockDim.x);
  values[threadIdx.x] = x[threadIdx.x];
  flags[threadIdx.x] = threadIdx.x % 3;
  __syncthreads();
  y[threadIdx.x] = values[63 - threadIdx.x] + flags[threadIdx.x ^ 1];
}

// Phases of a grid, and shared memory that outlives them.
__global__ void k_grid(const float* x, float* y) {
  __shared__ float kept[32];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  kept[threadIdx.x] = x[i];
  for (int round = 0; round < 3; ++round) {
    y[i] = x[i] + round;
    cg::this_grid().sync();
    kept[threadIdx.x] += y[gridDim.x * blockDim.x - 1 - i];
    cg::this_grid().sync();
  }
  y[i] = kept[31 - threadIdx.x];
}

template <class T>
void clear(T& variable) {
  const T zero{};
  cudaMemcpyToSymbol(variable, &zero, sizeof zero);
}

void run(HonestProgram program, const float* x, float* y) {
  clear(finished), clear(tickets), clear(cas_total), clear(mutex), clear(guarded);
  switch (program) {
    case cas_loop:
      return k_cas_loop<<<4, 64>>>(x, y), void();
    case guide_sum:
      return k_guide_sum<<<16, 64>>>(x, y), void();
    case warp_leaders:
      return k_warp_leaders<<<4, 64>>>(x, y), void();
    case mutex_of_blocks:
      return k_mutex<<<4, 64>>>(x, y), void();
    case flag_in_block:
      return k_flag_in_block<<<1, 64>>>(x, y), void();
    case packed_look_back:
      clear(descriptors);
      return k_packed_look_back<<<16, 32>>>(x, y), void();
    case same_value:
      return k_same_value<<<1, 64>>>(x, y), void();
    case histogram:
      cudaMemset(y, 0, 8 * sizeof(float));
      return k_histogram<<<2, 64>>>(x, y), void();
    case queue:
      return k_queue<<<3, 32>>>(x, y), void();
    case double_buffer:
      return k_double_buffer<<<2, 64>>>(x, y), void();
    case tiles:
      return k_tiles<<<1, 64>>>(x, y), void();
    case branches:
      return k_branches<<<1, 32>>>(x, y), void();
    case neighbours:
      return k_neighbours<<<1, 64>>>(x, y), void();
    case arena:
      return k_arena<<<1, 64, 64 * (sizeof(double) + sizeof(short))>>>(x, y), void();
    case grid_rounds: {
      void* arguments[] = {&x, &y};
      cudaLaunchCooperativeKernel(k_grid, 4, 32, arguments);
      return;
    }
    case honest_program_count:
      return;
  }
}

}  // namespace

extern "C" WfStatus warpfuzz_kernel(const WfCall* call) {
  run(static_cast<HonestProgram>(call->attributes[0].integer),
      static_cast<const float*>(call->inputs[0].data), static_cast<float*>(call->outputs[0].data));
  return cudaGetLastError() == cudaSuccess ? WF_OK : WF_ERROR;
}
