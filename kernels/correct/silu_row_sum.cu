// silu(u) + 0.01 * sum of silu(u) over the last axis: one block per row, shared-memory reduction.
#include "warpfuzz_kernel.hpp"

constexpr unsigned max_threads = 64;

// blockDim.x is a power of two.
__device__ float block_sum(float value, float* buffer) {
  const unsigned tid = threadIdx.x;
  buffer[tid] = value;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (tid < half) buffer[tid] += buffer[tid + half];
    __syncthreads();
  }
  const float sum = buffer[0];
  __syncthreads();  // the buffer is written again
  return sum;
}

__device__ float silu(float x) {
  const float e = expf(-fabsf(x));
  return x * ((x < 0 ? e : 1.0f) / (1.0f + e));
}

template <class T, class V>
__global__ void silu_row_sum(wf::View<const T, 2> u, wf::View<V, 2> y) {
  const int64_t rows = u.extent[0], columns = u.extent[1];
  __shared__ float buffer[max_threads];

  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    float sum = 0;
    for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
      sum += silu(wf::to_float(u(row, j)));
    }
    sum = block_sum(sum, buffer);
    for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
      y(row, j) = wf::from_float<V>(silu(wf::to_float(u(row, j))) + 0.01f * sum);
    }
  }
}

WARPFUZZ_KERNEL("") {
  const auto u = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  unsigned threads = 1;
  while (threads < max_threads && threads < u.extent(1)) threads *= 2;
  return wf::dispatch(u, y, [&](auto t, auto v) {
    using T = decltype(t);
    using V = decltype(v);
    silu_row_sum<T, V><<<wf::blocks(u.extent(0), 1), threads, 0, call.stream()>>>(
        u.view<const T, 2>(), y.view<V, 2>());
    return call.launched();
  });
}
