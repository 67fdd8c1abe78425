// Correct kernels with which simt_test.cc examines the CPU device.
#include <cuda_runtime.h>

#include "simt_kernels.h"
#include "warpfuzz_kernel.h"

namespace {

constexpr int block_size = 64;

__global__ void double_values(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

// Each instance has an array of its own size.
template <int Size>
__global__ void reverse_block(const float* x, float* y) {
  __shared__ float tile[Size];
  const int base = blockIdx.x * Size;
  tile[threadIdx.x] = x[base + threadIdx.x];
  __syncthreads();
  y[base + threadIdx.x] = tile[Size - 1 - threadIdx.x];
}

__global__ void dynamic_reverse(const float* x, float* y) {
  extern __shared__ float dynamic_tile[];
  const int base = blockIdx.x * blockDim.x;
  dynamic_tile[threadIdx.x] = x[base + threadIdx.x];
  __syncthreads();
  y[base + threadIdx.x] = dynamic_tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void warp_sum(const float* x, float* y) {
  float v = x[threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffffu, v, offset);
  y[threadIdx.x] = v;
}

__global__ void tile_sum(const float* x, float* y) {
  float v = x[threadIdx.x];
  for (int offset = 4; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset, 8);
  y[threadIdx.x] = __shfl_sync(0xffffffffu, v, 0, 8);
}

__global__ void partial_mask(const float* x, float* y) {
  float v = x[threadIdx.x];
  if (threadIdx.x % 2 == 0) {
    for (int offset = 16; offset > 1; offset /= 2) v += __shfl_xor_sync(0x55555555u, v, offset);
  } else {
    for (int offset = 16; offset > 1; offset /= 2) v += __shfl_xor_sync(0xaaaaaaaau, v, offset);
  }
  y[threadIdx.x] = v;
}

__global__ void votes(float* y) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned mask = 0xffffffffu;
  int equal = 0;
  unsigned total = __popc(__ballot_sync(mask, lane < 5));
  total += 100 * __any_sync(mask, lane == 7) + 200 * __all_sync(mask, lane < 32);
  total += 1000 * __popc(__match_any_sync(mask, lane / 8));
  total += 100000 * __popc(__match_all_sync(mask, 3, &equal)) + equal;
  total += 10000000 * (__reduce_max_sync(mask, lane) == 31 && __reduce_add_sync(mask, 1u) == 32);
  y[threadIdx.x] = total;
}

__global__ void barrier_count(float* y) {
  const int count = __syncthreads_count(threadIdx.x < 10);
  const int all = __syncthreads_and(threadIdx.x < 10);
  const int any = __syncthreads_or(threadIdx.x < 10);
  y[threadIdx.x] = count + 100 * all + 1000 * any;
}

__device__ int lock = 0;
__device__ int counter = 0;
__device__ unsigned finished = 0;

__global__ void spin_lock(float* y) {
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  __threadfence();
  const int before = counter;
  __syncwarp(1u << threadIdx.x % 32);
  counter = before + 1;
  __threadfence();
  atomicExch(&lock, 0);
  __syncthreads();
  y[threadIdx.x] = counter;
}

__global__ void last_block(const float* x, float* y, int n) {
  __shared__ bool is_last;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int k = i; k < i + static_cast<int>(blockDim.x) && k < n; ++k) sum += x[k];
    y[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  float total = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) total += y[b];
  for (int k = 0; k < n; ++k) y[k] = total;
}

__global__ void active_mask(float* y) {
  y[threadIdx.x] = 0;
  if (threadIdx.x % 4 == 1) y[threadIdx.x] = __popc(__activemask());
}

__global__ void cooperative(const float* x, float* y, int n) {
  __shared__ float first;
  if (threadIdx.x == 0) y[blockIdx.x] = first = x[blockIdx.x * blockDim.x];
  wf_grid_barrier(__FILE__, __LINE__);
  float sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += y[b];
  const float kept = first;
  wf_grid_barrier(__FILE__, __LINE__);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sum + (kept - x[blockIdx.x * blockDim.x]);
}

__global__ void many_barriers(const float* x, float* y) {
  __shared__ float value[block_size];
  value[threadIdx.x] = x[threadIdx.x];
  for (int i = 0; i < 1000; ++i) __syncthreads();
  y[threadIdx.x] = value[threadIdx.x];
}

__device__ int arrivals = 0;
__global__ void thread_order(float* y) { y[atomicAdd(&arrivals, 1)] = threadIdx.x; }

__global__ void unset_shared(float* y) {
  __shared__ float unset[block_size];
  extern __shared__ float dynamic_tile[];
  y[threadIdx.x] = threadIdx.x % 2 ? unset[threadIdx.x] : dynamic_tile[threadIdx.x];
  __syncthreads();
  unset[threadIdx.x] = dynamic_tile[threadIdx.x] = 1;
}

__global__ void index_3d(float* y) {
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  y[block * blockDim.x * blockDim.y * blockDim.z + thread] = 100 * block + thread;
}

cudaError_t run_cooperative(const float* x, float* y, int n) {
  void* arguments[] = {&x, &y, &n};
  return cudaLaunchCooperativeKernel(cooperative, (n + 31) / 32, 32, arguments);
}

void run_device_memory(const float* x, float* y, int n) {
  float* memory = nullptr;
  const size_t bytes = n * sizeof(float);
  cudaMalloc(&memory, bytes);
  cudaMemset(memory, 0, bytes);
  cudaMemcpyAsync(memory, x, bytes, cudaMemcpyDeviceToDevice, nullptr);
  double_values<<<(n + 255) / 256, 256>>>(memory, y, n);
  cudaDeviceSynchronize();
  cudaFree(memory);
}

void run(int kernel, float* x, float* y, int n) {
  const int blocks = n / block_size;
  const size_t tile = block_size * sizeof(float);
  int zero = 0;
  switch (kernel) {
    case kernel_double:
      return double_values<<<(n + 255) / 256, 256>>>(x, y, n), void();
    case kernel_reverse_block:
      reverse_block<8><<<1, 8>>>(x, y);
      return reverse_block<block_size><<<blocks, block_size>>>(x, y), void();
    case kernel_dynamic_reverse:
      return dynamic_reverse<<<blocks, 64, tile>>>(x, y), void();
    case kernel_warp_sum:
      return warp_sum<<<1, n>>>(x, y), void();
    case kernel_tile_sum:
      return tile_sum<<<1, n>>>(x, y), void();
    case kernel_partial_mask:
      return partial_mask<<<1, n>>>(x, y), void();
    case kernel_votes:
      return votes<<<1, n>>>(y), void();
    case kernel_barrier_count:
      return barrier_count<<<1, n>>>(y), void();
    case kernel_spin_lock:
      cudaMemcpyToSymbol(counter, &zero, sizeof zero);
      cudaMemcpyToSymbol(lock, &zero, sizeof zero);
      return spin_lock<<<1, n>>>(y), void();
    case kernel_last_block:
      return last_block<<<(n + 31) / 32, 32>>>(x, y, n), void();
    case kernel_active_mask:
      return active_mask<<<1, n>>>(y), void();
    case kernel_cooperative:
      return run_cooperative(x, y, n), void();
    case kernel_many_barriers:
      return many_barriers<<<1, block_size>>>(x, y), void();
    case kernel_thread_order:
      cudaMemcpyToSymbol(arrivals, &zero, sizeof zero);
      return thread_order<<<1, n>>>(y), void();
    case kernel_unset_shared:
      return unset_shared<<<2, n, n * sizeof(float)>>>(y), void();
    case kernel_device_memory:
      return run_device_memory(x, y, n);
    case kernel_index_3d:
      return index_3d<<<dim3(2, 3, 2), dim3(3, 5, 2)>>>(y), void();
  }
}

}  // namespace

extern "C" WfStatus warpfuzz_kernel(const WfCall* call) {
  float* x = static_cast<float*>(call->inputs[0].data);
  float* y = static_cast<float*>(call->outputs[0].data);
  run(static_cast<int>(call->attributes[0].integer), x, y,
      static_cast<int>(call->outputs[0].shape[0]));
  return cudaGetLastError() == cudaSuccess ? WF_OK : WF_ERROR;
}
