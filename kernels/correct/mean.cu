// Mean over the last axis: one block per row, shared-memory reduction.
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
__global__ void mean(wf::View<const T, 2> x, wf::View<U, 1> y) {
  const int64_t rows = x.extent[0], columns = x.extent[1];
  __shared__ float buffer[max_threads];

  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    float sum = 0;
    for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) sum += wf::to_float(x(row, j));
    sum = block_sum(sum, buffer);
    if (threadIdx.x == 0) y(row) = wf::from_float<U>(sum / static_cast<float>(columns));
  }
}

WARPFUZZ_KERNEL("") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  unsigned threads = 1;
  while (threads < max_threads && threads < x.extent(1)) threads *= 2;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    mean<T, U><<<wf::blocks(x.extent(0), 1), threads, 0, call.stream()>>>(x.view<const T, 2>(),
                                                                          y.view<U, 1>());
    return call.launched();
  });
}
