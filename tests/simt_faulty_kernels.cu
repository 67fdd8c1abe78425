// Faulty kernels, and launches that CUDA rejects, with which simt_test.cc examines the CPU device.
// Lines that a test expects in a fault carry a comment "fault: <name>".
#include <assert.h>
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <stdexcept>

#include "simt_kernels.h"
#include "warpfuzz_kernel.h"

namespace {

constexpr int block_size = 64;
__device__ int lock = 0;

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
  while (atomicCAS(&lock, 77, 78) != 77) {  // fault: endless_yield
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
__global__ void endless_barrier(float* y) {
  for (;;) __syncthreads();  // fault: endless_barrier
}
__global__ void endless_shuffle(float* y) {
  while (__any_sync(0xffffffffu, y != nullptr)) {  // fault: endless_shuffle
  }
}
__global__ void grid_exited_thread(float* y) {
  y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  if (blockIdx.x == 1 && threadIdx.x == 5) return;
  cooperative_groups::this_grid().sync();  // fault: grid_exited_thread
}
__global__ void grid_exited_block(float* y) {
  y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  if (blockIdx.x == 2) return;
  cooperative_groups::this_grid().sync();  // fault: grid_exited_block
}
__global__ void grid_against_barrier(float* y) {
  if (threadIdx.x < 16) {
    __syncthreads();  // fault: grid_against_barrier
  } else {
    cooperative_groups::this_grid().sync();
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
__global__ void grid_not_cooperative(float* y) {
  y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  cooperative_groups::this_grid().sync();  // fault: grid_not_cooperative
}

template <int Bytes>
__global__ void nothing() {}

void run_cooperative(void (*kernel)(float*), float* y) {
  void* arguments[] = {&y};
  cudaLaunchCooperativeKernel(kernel, 4, 32, arguments);
}

void run(int kernel, float* x, float* y, int n) {
  switch (kernel) {
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
    case kernel_endless_barrier:
      return endless_barrier<<<1, n>>>(y), void();
    case kernel_endless_shuffle:
      return endless_shuffle<<<1, n>>>(y), void();
    case kernel_grid_exited_thread:
      return run_cooperative(grid_exited_thread, y);
    case kernel_grid_exited_block:
      return run_cooperative(grid_exited_block, y);
    case kernel_grid_against_barrier:
      return run_cooperative(grid_against_barrier, y);
    case kernel_grid_not_cooperative:
      return grid_not_cooperative<<<4, 32>>>(y), void();
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
