// Kernels with which simt_test.cc examines the CPU device. Lines that a test expects in a fault
// carry a comment "fault: <name>".
#include <assert.h>
#include <cuda_runtime.h>

#include <stdexcept>

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

// Faulty kernels.

__global__ void read_past_end(const float* x, float* y, int n) {
  y[threadIdx.x] = x[n + threadIdx.x % 2];  // fault: read_past_end
}
__global__ void write_before_begin(float* y) {
  y[threadIdx.x] = 0;
  if (threadIdx.x == 3) y[-1] = 1;  // fault: write_before_begin
}
__global__ void shared_overflow(float* y) {
  __shared__ float tile[block_size];
  __shared__ float other[block_size];
  float* p = threadIdx.x < 1000 ? tile : other;
  p[threadIdx.x + 1] = 1;  // fault: shared_overflow
  other[threadIdx.x] = 2;
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x] + other[threadIdx.x];
}
__global__ void dynamic_overflow(float* y) {
  extern __shared__ float dynamic_tile[];
  dynamic_tile[threadIdx.x + 1] = 1;  // fault: dynamic_overflow
  y[threadIdx.x] = 0;
}
__global__ void signed_overflow(const float* x, float* y) {
  const int big = 0x7fffffff - static_cast<int>(x[0]) * 0;
  y[threadIdx.x] = big + static_cast<int>(threadIdx.x);  // fault: signed_overflow
}
__global__ void misaligned(float* x, float* y) {
  const auto* bytes = reinterpret_cast<const char*>(x) + 2 * (threadIdx.x == 5);
  y[threadIdx.x] = *reinterpret_cast<const float*>(bytes);  // fault: misaligned
}
__global__ void divergent_barrier(float* y) {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else {
    __syncthreads();  // fault: divergent_barrier
  }
  y[threadIdx.x] = 1;
}
__global__ void barrier_against_shuffle(float* y) {
  float v = 1;
  if (threadIdx.x % 32 < 16) __syncthreads();  // fault: barrier_against_shuffle
  v += __shfl_xor_sync(0xffffffffu, v, 1);
  y[threadIdx.x] = v;
}
__global__ void exit_before_barrier(float* y) {
  y[threadIdx.x] = 1;
  if (threadIdx.x == 7) return;
  __syncthreads();  // fault: exit_before_barrier
}
__global__ void shuffle_from_exited(float* y, int n) {
  if (static_cast<int>(threadIdx.x) >= n) return;
  y[threadIdx.x] = __shfl_down_sync(0xffffffffu, 1.0f, 1);  // fault: shuffle_from_exited
}
__global__ void shuffle_outside_mask(float* y) {
  y[threadIdx.x] = 0;
  if (threadIdx.x < 4) {
    y[threadIdx.x] = __shfl_sync(0xfu, 1.0f, 9);  // fault: shuffle_outside_mask
  }
}
__global__ void warp_deadlock(float* y) {
  if (threadIdx.x < 16) {
    __syncwarp(0xffffffffu);  // fault: warp_deadlock
  } else {
    y[threadIdx.x] = __shfl_sync(0xffffffffu, 1.0f, 20);
  }
}
__global__ void null_write(float* y) {
  float* volatile wild = reinterpret_cast<float*>(0x10);
  if (threadIdx.x == 2) *wild = 1;  // fault: null_write
  y[threadIdx.x] = 1;
}
__global__ void wild_call(float* y) {
  void (*volatile wild)(float*) = reinterpret_cast<void (*)(float*)>(0x1000);
  wild(y);  // fault: wild_call
  y[threadIdx.x] = 1;
}
__device__ __attribute__((noinline)) float deep(float* y, int depth) {
  volatile float local[256];
  local[depth % 256] = y[0];
  return depth > 1000000 ? 0 : deep(y, depth + 1) + local[depth % 256];
}
__global__ void stack_overflow(float* y) { y[threadIdx.x] = deep(y, 0); }
__global__ void endless_loop(float* y) {
  volatile float* p = y;
  while (p[threadIdx.x] != 1.5f) p[threadIdx.x] = 0;  // fault: endless_loop
}
__global__ void endless_yield(float* y) {
  y[threadIdx.x] = 0;
  while (atomicCAS(&lock, 77, 78) != 77) {
  }
}
__global__ void assertion(float* y) {
  assert(y == nullptr);  // fault: assertion
}
__global__ void many_faults(const float* x, float* y, int n) {
  float s = 0;
  s += x[n];
  s += x[n + 1];
  s += x[n + 2];
  s += x[n + 3];
  s += x[n + 4];
  s += x[n + 5];
  s += x[n + 6];
  s += x[n + 7];
  s += x[n + 8];
  y[threadIdx.x] = s;
}

template <int Bytes>
__global__ void nothing() {}

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
    case kernel_read_past_end:
      return read_past_end<<<1, n>>>(x, y, n), void();
    case kernel_write_before_begin:
      return write_before_begin<<<1, n>>>(y), void();
    case kernel_shared_overflow:
      return shared_overflow<<<1, block_size>>>(y), void();
    case kernel_dynamic_overflow:
      return dynamic_overflow<<<1, 63, 63 * 4>>>(y), void();
    case kernel_copy_past_end:
      cudaMemcpy(y, x, n * 4 + 4, cudaMemcpyDeviceToDevice);  // fault: copy_past_end
      return;
    case kernel_signed_overflow:
      return signed_overflow<<<1, n>>>(x, y), void();
    case kernel_misaligned:
      return misaligned<<<1, n>>>(x, y), void();
    case kernel_divergent_barrier:
      return divergent_barrier<<<1, n>>>(y), void();
    case kernel_barrier_against_shuffle:
      return barrier_against_shuffle<<<1, n>>>(y), void();
    case kernel_exit_before_barrier:
      return exit_before_barrier<<<1, n>>>(y), void();
    case kernel_shuffle_from_exited:
      return shuffle_from_exited<<<1, n + 1>>>(y, n), void();
    case kernel_shuffle_outside_mask:
      return shuffle_outside_mask<<<1, n>>>(y), void();
    case kernel_warp_deadlock:
      return warp_deadlock<<<1, n>>>(y), void();
    case kernel_null_write:
      return null_write<<<1, n>>>(y), void();
    case kernel_wild_call:
      return wild_call<<<1, n>>>(y), void();
    case kernel_stack_overflow:
      return stack_overflow<<<1, n>>>(y), void();
    case kernel_endless_loop:
      return endless_loop<<<1, n>>>(y), void();
    case kernel_endless_yield:
      return endless_yield<<<1, n>>>(y), void();
    case kernel_host_loop:
      for (volatile int i = 0; i == 0;) i = i * 2;  // fault: host_loop
      return;
    case kernel_assertion:
      return assertion<<<1, n>>>(y), void();
    case kernel_exit:
      exit(3);
    case kernel_throw:
      throw std::runtime_error("no good");
    case kernel_many_faults:
      return many_faults<<<1, n>>>(x, y, n), void();
    case launch_no_blocks:
      return nothing<0><<<0, n>>>(), void();
    case launch_too_many_threads:
      return nothing<0><<<1, 1025>>>(), void();
    case launch_block_z:
      return nothing<0><<<1, dim3(1, 1, 65)>>>(), void();
    case launch_grid_y:
      return nothing<0><<<dim3(1, 65536), 1>>>(), void();
    case launch_shared:
      return nothing<0><<<1, n, 50000>>>(), void();
    case launch_shared_opted_in:
      cudaFuncSetAttribute(nothing<1>, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000);
      return nothing<1><<<1, n, 50000>>>(), void();
    case launch_shared_too_large:
      cudaFuncSetAttribute(nothing<1>, cudaFuncAttributeMaxDynamicSharedMemorySize, 240000);
      return;
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
