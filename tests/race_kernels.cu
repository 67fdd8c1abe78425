// One planted fault per program, for race_test.cc. `Mended` is the twin without it. Lines of a
// fault carry its name in a comment.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "race_kernels.h"
#include "warpfuzz_kernel.h"

namespace {

namespace cg = cooperative_groups;

template <bool Mended>
__global__ void k_raw_shared(const float* x, float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];  // fault: raw_shared
  if (Mended) __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];  // fault: raw_shared
}

template <bool Mended>
__global__ void k_war_shared(const float* x, float* y) {
  __shared__ float tile[64];
  float sum = 0;
  for (int round = 0; round < 3; ++round) {
    tile[threadIdx.x] = x[threadIdx.x] + round;  // fault: war_shared
    __syncthreads();
    sum += tile[63 - threadIdx.x];  // fault: war_shared
    if (Mended) __syncthreads();
  }
  y[threadIdx.x] = sum;
}

template <bool Mended>
__global__ void k_waw_shared(const float* x, float* y) {
  __shared__ float tile[64];
  tile[Mended ? threadIdx.x : threadIdx.x / 2] = x[threadIdx.x];  // fault: waw_shared
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x / 2];
}

template <bool Mended>
__global__ void k_inter_block_sum(const float* x, float* y) {
  if (threadIdx.x != 0) return;
  if (Mended) {
    atomicAdd(y, x[blockIdx.x]);
  } else {
    y[0] += x[blockIdx.x];  // fault: inter_block_sum
  }
}

template <bool Mended>
__global__ void k_missing_syncwarp(const float* x, float* y) {
  __shared__ float lanes[32];
  lanes[threadIdx.x] = x[threadIdx.x];  // fault: missing_syncwarp
  if (Mended) __syncwarp();
  y[threadIdx.x] = lanes[threadIdx.x ^ 1];  // fault: missing_syncwarp
}

template <bool Mended>
__global__ void k_tile_sync(const float* x, float* y) {
  __shared__ float lanes[32];
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  lanes[threadIdx.x] = x[threadIdx.x];  // fault: tile_sync
  tile.sync();
  y[threadIdx.x] = lanes[threadIdx.x ^ (Mended ? 4 : 8)];  // fault: tile_sync
}

template <bool Mended>
__global__ void k_volatile_warp(const float* x, float* y) {
  __shared__ float memory[64];
  memory[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x >= 32) return;
  volatile float* sum = memory;
  for (int offset = 32; offset > 0; offset /= 2) {
    float other = 0;
    if (threadIdx.x < offset) other = sum[threadIdx.x + offset];  // fault: volatile_warp
    if (Mended) __syncwarp();
    if (threadIdx.x < offset) sum[threadIdx.x] += other;  // fault: volatile_warp
    if (Mended) __syncwarp();
  }
  y[threadIdx.x] = memory[threadIdx.x == 0 ? 0 : threadIdx.x + 32];
}

template <bool Mended>
__global__ void k_uninitialized_shared(const float* x, float* y) {
  __shared__ float tile[64];
  if (Mended || threadIdx.x < 32) tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];  // fault: uninitialized_shared
}

template <bool Mended>
__global__ void k_uninitialized_global(const float* x, float* y) {
  if (Mended) y[threadIdx.x] = 0;
  y[threadIdx.x] += x[threadIdx.x];  // fault: uninitialized_global
}

template <bool Mended>
__global__ void k_uninitialized_malloc(const float* memory, float* y) {
  y[threadIdx.x] = memory[threadIdx.x];  // fault: uninitialized_malloc
}

template <bool Mended>
__global__ void k_misaligned_float4(const float* x, float* y) {
  const float4 v = *reinterpret_cast<const float4*>(x + !Mended);  // fault: misaligned_float4
  y[threadIdx.x] = v.x + v.y + v.z + v.w;
}

template <class T, int N>
struct alignas(N * sizeof(T)) Pack {
  T values[N];
};

template <bool Mended>
__global__ void k_misaligned_store(const float* x, float* y) {
  if (threadIdx.x != 0) return;
  Pack<float, 2> pack;
  for (float& value : pack.values) value = x[0];
  reinterpret_cast<Pack<float, 2>*>(y + !Mended)[0] = pack;  // fault: misaligned_store
}

// 48 threads: the twin stops at the last one.
template <bool Mended>
__global__ void k_power_of_two(const float* x, float* y) {
  __shared__ float sum[64];
  sum[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    const unsigned other = threadIdx.x + stride;
    if (threadIdx.x % (2 * stride) == 0 && (!Mended || other < blockDim.x)) {
      sum[threadIdx.x] += sum[other];  // fault: power_of_two
    }
    __syncthreads();
  }
  y[threadIdx.x] = sum[0];
}

// 40 threads: the last warp has 8 lanes.
template <bool Mended>
__global__ void k_partial_warp(const float* x, float* y) {
  float sum = x[threadIdx.x];
  for (int offset = Mended ? 4 : 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, offset, Mended ? 8 : 32);  // fault: partial_warp
  }
  y[threadIdx.x] = sum;
}

template <class T, int Size, bool Mended>
__device__ T exchange(T value) {
  __shared__ T slots[Size];
  slots[threadIdx.x] = value;  // fault: template_shared
  if constexpr (Mended) __syncthreads();
  return slots[Size - 1 - threadIdx.x];  // fault: template_shared
}
template <bool Mended>
__global__ void k_template_shared(const float* x, float* y) {
  y[threadIdx.x] = exchange<float, 64, Mended>(x[threadIdx.x]);
}

template <bool Mended>
__global__ void k_dynamic_shared(const float* x, float* y) {
  extern __shared__ float slots[];
  float* const mine = slots + blockDim.x;
  mine[threadIdx.x] = x[threadIdx.x];  // fault: dynamic_shared
  if (Mended) __syncthreads();
  y[threadIdx.x] = mine[63 - threadIdx.x];  // fault: dynamic_shared
}

template <bool Mended>
__global__ void k_atomic_then_plain(const float* x, float* y) {
  __shared__ float total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, x[threadIdx.x]);  // fault: atomic_then_plain
  if (Mended) __syncthreads();
  y[threadIdx.x] = total;  // fault: atomic_then_plain
}

__device__ unsigned arrived;

template <bool Mended>
__global__ void k_missing_fence(const float* x, float* y) {
  __shared__ bool last;
  y[blockIdx.x * blockDim.x + threadIdx.x] = x[threadIdx.x];  // fault: missing_fence
  if (Mended) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  float sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b)
    sum += y[b * blockDim.x + threadIdx.x];  // fault: missing_fence
  __syncthreads();
  y[threadIdx.x] = sum;
}

__device__ int lock;
__device__ int guarded;

template <bool Mended>
__global__ void k_lock_without_fence(float* y) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  guarded = guarded + 1;  // fault: lock_without_fence
  if (Mended) __threadfence();
  atomicExch(&lock, 0);
  y[blockIdx.x] = 1;
}

// Blocks take their turn by ticket, so that they may run in any order.
__device__ unsigned tickets;
__device__ int status[64];
__device__ float prefix[64];

template <bool Mended>
__global__ void k_look_back(const float* x, float* y) {
  if (threadIdx.x != 0) return;
  const unsigned turn = atomicAdd(&tickets, 1);
  float sum = x[turn];
  if (turn > 0) {
    while (*const_cast<volatile int*>(&status[turn - 1]) == 0) __threadfence();
    sum += prefix[turn - 1];  // fault: look_back
  }
  prefix[turn] = sum;  // fault: look_back
  if (Mended) __threadfence();
  __stcg(&status[turn], 1);
  y[turn] = sum;
}

__device__ int counter;

template <bool Mended>
__global__ void k_device_variable(float* y) {
  if (Mended) {
    atomicAdd(&counter, 1);
  } else {
    ++counter;  // fault: device_variable
  }
  y[threadIdx.x] = 1;
}

template <bool Mended>
__global__ void k_half_neighbours(const float* x, float* y) {
  __shared__ __half tile[64];
  const __half value = __float2half(x[threadIdx.x]);
  tile[Mended ? threadIdx.x : threadIdx.x / 2] = value;  // fault: half_neighbours
  __syncthreads();
  y[threadIdx.x] = __half2float(tile[threadIdx.x / 2]);
}

template <bool Mended>
__global__ void k_grid_phases(const float* x, float* y) {
  __shared__ float kept;
  const cg::grid_group grid = cg::this_grid();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) kept = x[i];
  __syncthreads();
  y[i] = x[i];  // fault: grid_phases
  if (Mended) grid.sync();
  float sum = kept + y[gridDim.x * blockDim.x - 1 - i];  // fault: grid_phases
  grid.sync();
  y[i] = sum;
}

template <bool Mended>
__global__ void k_shuffle_is_no_barrier(const float* x, float* y) {
  __shared__ float lanes[32];
  lanes[threadIdx.x] = x[threadIdx.x];  // fault: shuffle_is_no_barrier
  const float other = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 1);
  if (Mended) __syncwarp();
  y[threadIdx.x] = other + lanes[threadIdx.x ^ 1];  // fault: shuffle_is_no_barrier
}

template <class T>
void set(T& variable) {
  T zero{};
  cudaMemcpyToSymbol(variable, &zero, sizeof zero);
}

__global__ void k_first_stream(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x];  // fault: two_streams
}
__global__ void k_second_stream(float* y) {
  y[threadIdx.x + 64] = y[63 - threadIdx.x];  // fault: two_streams
}
template <bool Mended>
void run_two_streams(const float* x, float* y) {
  cudaStream_t first, second;
  cudaEvent_t event;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEventCreate(&event);
  k_first_stream<<<1, 64, 0, first>>>(x, y);
  if (Mended) {
    cudaEventRecord(event, first);
    cudaStreamWaitEvent(second, event);
  }
  k_second_stream<<<1, 64, 0, second>>>(y);
  cudaEventDestroy(event);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
}

template <bool Mended>
void run(RaceProgram program, const float* x, float* y) {
  switch (program) {
    case raw_shared:
      return k_raw_shared<Mended><<<2, 64>>>(x, y), void();
    case war_shared:
      return k_war_shared<Mended><<<1, 64>>>(x, y), void();
    case waw_shared:
      return k_waw_shared<Mended><<<1, 64>>>(x, y), void();
    case inter_block_sum:
      cudaMemset(y, 0, sizeof(float));
      return k_inter_block_sum<Mended><<<4, 32>>>(x, y), void();
    case missing_syncwarp:
      return k_missing_syncwarp<Mended><<<1, 32>>>(x, y), void();
    case tile_sync:
      return k_tile_sync<Mended><<<1, 32>>>(x, y), void();
    case volatile_warp:
      return k_volatile_warp<Mended><<<1, 64>>>(x, y), void();
    case uninitialized_shared:
      return k_uninitialized_shared<Mended><<<2, 64>>>(x, y), void();
    case uninitialized_global:
      return k_uninitialized_global<Mended><<<1, 64>>>(x, y), void();
    case uninitialized_malloc: {
      float* memory = nullptr;
      cudaMalloc(&memory, 64 * sizeof(float));
      if (Mended) cudaMemset(memory, 0, 64 * sizeof(float));
      k_uninitialized_malloc<Mended><<<1, 64>>>(memory, y);
      cudaFree(memory);
      return;
    }
    case misaligned_float4:
      return k_misaligned_float4<Mended><<<1, 32>>>(x, y), void();
    case misaligned_store:
      return k_misaligned_store<Mended><<<1, 32>>>(x, y), void();
    case power_of_two:
      return k_power_of_two<Mended><<<1, 48>>>(x, y), void();
    case partial_warp:
      return k_partial_warp<Mended><<<1, 40>>>(x, y), void();
    case template_shared:
      return k_template_shared<Mended><<<1, 64>>>(x, y), void();
    case dynamic_shared:
      return k_dynamic_shared<Mended><<<1, 64, 128 * sizeof(float)>>>(x, y), void();
    case atomic_then_plain:
      return k_atomic_then_plain<Mended><<<1, 64>>>(x, y), void();
    case missing_fence:
      return k_missing_fence<Mended><<<4, 64>>>(x, y), void();
    case lock_without_fence:
      set(lock), set(guarded);
      return k_lock_without_fence<Mended><<<8, 32>>>(y), void();
    case look_back:
      set(tickets), set(status);
      return k_look_back<Mended><<<16, 32>>>(x, y), void();
    case device_variable:
      set(counter);
      return k_device_variable<Mended><<<1, 64>>>(y), void();
    case half_neighbours:
      return k_half_neighbours<Mended><<<1, 64>>>(x, y), void();
    case grid_phases: {
      void* arguments[] = {&x, &y};
      cudaLaunchCooperativeKernel(k_grid_phases<Mended>, 4, 32, arguments);
      return;
    }
    case shuffle_is_no_barrier:
      return k_shuffle_is_no_barrier<Mended><<<1, 32>>>(x, y), void();
    case two_streams:
      return run_two_streams<Mended>(x, y);
    case race_program_count:
      return;
  }
}

}  // namespace

extern "C" WfStatus warpfuzz_kernel(const WfCall* call) {
  const auto* x = static_cast<const float*>(call->inputs[0].data);
  auto* y = static_cast<float*>(call->outputs[0].data);
  const auto kernel = call->attributes[0].integer;
  const auto program = static_cast<RaceProgram>(kernel / 2);
  kernel % 2 != 0 ? run<true>(program, x, y) : run<false>(program, x, y);
  return cudaGetLastError() == cudaSuccess ? WF_OK : WF_ERROR;
}
