// Uses of tensor memory, compiled for sm_100a and never run: cuda_compile_test.cc.
#include <cstdint>

__device__ void alloc(uint32_t* slot, int columns) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(slot));
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(address),
               "r"(columns)
               : "memory");
}
__device__ void dealloc(uint32_t address, int columns) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address),
               "r"(columns));
}
__device__ void relinquish() {
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
}
__device__ __noinline__ void release(uint32_t address, int columns) { dealloc(address, columns); }

extern "C" {
__global__ void fits(float* y, int n) {
  __shared__ uint32_t slot[2];
  __shared__ float tile[256];
  extern __shared__ float more[];
  if (threadIdx.x < 32) {
    alloc(&slot[0], 256);
    __syncwarp();
    alloc(&slot[1], n > 128 ? 256 : 128);
    relinquish();
  }
  more[threadIdx.x] = tile[threadIdx.x] = y[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[255 - threadIdx.x] + more[0];
  __syncthreads();
  if (threadIdx.x < 32) {
    release(slot[0], 256);
    dealloc(slot[1], n > 128 ? 256 : 128);
  }
}
__global__ void columns_96(float* y) {
  __shared__ uint32_t slot;
  alloc(&slot, 96);
  relinquish();
  y[0] = slot;
  dealloc(slot, 96);
}
__global__ void too_many(float* y) {
  __shared__ uint32_t slot[2];
  if (threadIdx.x < 32) {
    alloc(&slot[0], 512);
    __syncwarp();
    alloc(&slot[1], 64);
  }
  __syncthreads();
  y[0] = slot[0];
  __syncthreads();
  if (threadIdx.x < 32) {
    dealloc(slot[0], 512);
    dealloc(slot[1], 64);
  }
}
__global__ void never_freed(float* y) {
  __shared__ uint32_t slot;
  if (threadIdx.x < 32) alloc(&slot, 128);
  __syncthreads();
  y[0] = slot;
}
__global__ void relinquished(float* y) {
  __shared__ uint32_t slot[2];
  if (threadIdx.x < 32) {
    alloc(&slot[0], 128);
    relinquish();
    alloc(&slot[1], 128);
    dealloc(slot[0], 128);
    dealloc(slot[1], 128);
  }
  y[0] = 1;
}
}
