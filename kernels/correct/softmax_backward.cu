// Gradient of softmax over the last axis: one block per row, shared-memory reduction.
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

template <class T, class U>
__global__ void softmax_backward(wf::View<const T, 2> y, wf::View<const T, 2> dy,
                                 wf::View<U, 2> dx) {
  const int64_t rows = y.extent[0], columns = y.extent[1];
  __shared__ float buffer[max_threads];

  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    float sum = 0;
    for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
      sum += wf::to_float(y(row, j)) * wf::to_float(dy(row, j));
    }
    sum = block_sum(sum, buffer);
    for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
      dx(row, j) = wf::from_float<U>(wf::to_float(y(row, j)) * (wf::to_float(dy(row, j)) - sum));
    }
  }
}

WARPFUZZ_KERNEL("") {
  const auto y = call.input(0), dy = call.input(1), dx = call.output(0);
  if (dx.size() == 0) return WF_OK;
  unsigned threads = 1;
  while (threads < max_threads && threads < y.extent(1)) threads *= 2;
  return wf::dispatch(y, dx, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    softmax_backward<T, U><<<wf::blocks(y.extent(0), 1), threads, 0, call.stream()>>>(
        y.view<const T, 2>(), dy.view<const T, 2>(), dx.view<U, 2>());
    return call.launched();
  });
}
