// Kernel shapes whose launch rate simt_benchmark.cc measures: textbook kernels with shared-memory
// tree reductions, so that barriers dominate.
#include <cuda_runtime.h>

#include "simt_benchmark_kernels.h"
#include "warpfuzz_kernel.h"

namespace {

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

template <class Operation>
__device__ float block_reduce(float* scratch, float value, Operation operation) {
  const int t = threadIdx.x;
  scratch[t] = value;
  __syncthreads();
  for (int offset = blockDim.x / 2; offset > 0; offset /= 2) {
    if (t < offset) scratch[t] = operation(scratch[t], scratch[t + offset]);
    __syncthreads();
  }
  const float result = scratch[0];
  __syncthreads();
  return result;
}

__global__ void softmax(const float* x, float* y, int n) {
  __shared__ float scratch[256];
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float largest = -INFINITY;
  for (int i = threadIdx.x; i < n; i += blockDim.x) largest = fmaxf(largest, x[i]);
  largest = block_reduce(scratch, largest, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(x[i] - largest);
  sum = block_reduce(scratch, sum, [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = expf(x[i] - largest) / sum;
}

constexpr int tile = 16;

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[tile][tile];
  __shared__ float tile_b[tile][tile];
  const int row = blockIdx.y * tile + threadIdx.y;
  const int column = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (int base = 0; base < k; base += tile) {
    const int ka = base + threadIdx.x;
    const int kb = base + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0;
    tile_b[threadIdx.y][threadIdx.x] = column < n && kb < k ? b[kb * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

__global__ void layernorm(const float* x, float* y, int n) {
  __shared__ float scratch[128];
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  const auto plus = [](float a, float b) { return a + b; };
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i];
  const float mean = block_reduce(scratch, sum, plus) / n;
  float squares = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) squares += (x[i] - mean) * (x[i] - mean);
  const float scale = rsqrtf(block_reduce(scratch, squares, plus) / n + 1e-5f);
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = (x[i] - mean) * scale;
}

__global__ void shuffle_sum(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? x[i] : 0;
  for (int round = 0; round < 4; ++round) {
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffffu, v, offset);
  }
  if (i < n) y[i] = v;
}

}  // namespace

// The input is large enough for every shape.
extern "C" WfStatus warpfuzz_kernel(const WfCall* call) {
  float* x = static_cast<float*>(call->inputs[0].data);
  float* y = static_cast<float*>(call->outputs[0].data);
  switch (call->attributes[0].integer) {
    case benchmark_add:
      add<<<4, 256>>>(x, x, y, 1000);
      break;
    case benchmark_softmax_256:
      softmax<<<4, 256>>>(x, y, 1025);
      break;
    case benchmark_softmax_32:
      softmax<<<4, 32>>>(x, y, 1025);
      break;
    case benchmark_softmax_small:
      softmax<<<1, 32>>>(x, y, 17);
      break;
    case benchmark_matmul:
      matmul<<<dim3(4, 5), dim3(16, 16)>>>(x, x, y, 65, 63, 129);
      break;
    case benchmark_layernorm:
      layernorm<<<3, 128>>>(x, y, 771);
      break;
    case benchmark_shuffle:
      shuffle_sum<<<4, 256>>>(x, y, 1000);
      break;
  }
  return cudaGetLastError() == cudaSuccess ? WF_OK : WF_ERROR;
}
