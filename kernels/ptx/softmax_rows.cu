// A block per row, partial maxima and sums of its threads in dynamic shared memory.
#include <cstdint>

__device__ float combine(float mine, float* partial, bool sum) {
  partial[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const float other = partial[threadIdx.x + half];
      partial[threadIdx.x] =
          sum ? partial[threadIdx.x] + other : fmaxf(partial[threadIdx.x], other);
    }
    __syncthreads();
  }
  const float result = partial[0];
  __syncthreads();
  return result;
}

extern "C" __global__ void softmax_rows(const float* x, float* y, int64_t columns) {
  extern __shared__ float partial[];
  const float* const in = x + blockIdx.x * columns;
  float* const out = y + blockIdx.x * columns;
  float maximum = in[0];
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) maximum = fmaxf(maximum, in[j]);
  maximum = combine(maximum, partial, false);
  float sum = 0;
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) sum += expf(in[j] - maximum);
  sum = combine(sum, partial, true);
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) out[j] = expf(in[j] - maximum) / sum;
}
