// Prefix sums along the last axis: one block per row, tiles scanned by doubling strides, a carry
// between tiles.
#include "warpfuzz_kernel.hpp"

constexpr unsigned max_threads = 64;

template <class T, class U>
__global__ void cumsum(wf::View<const T, 2> x, wf::View<U, 2> y) {
  const int64_t rows = x.extent[0], columns = x.extent[1];
  __shared__ float buffer[max_threads];
  const unsigned tid = threadIdx.x;

  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    float carry = 0;
    for (int64_t begin = 0; begin < columns; begin += blockDim.x) {
      const int64_t j = begin + tid;
      float sum = j < columns ? wf::to_float(x(row, j)) : 0.0f;
      for (unsigned step = 1; step < blockDim.x; step *= 2) {
        buffer[tid] = sum;
        __syncthreads();
        if (tid >= step) sum += buffer[tid - step];
        __syncthreads();
      }
      buffer[tid] = sum;
      __syncthreads();
      if (j < columns) y(row, j) = wf::from_float<U>(carry + sum);
      carry += buffer[blockDim.x - 1];
      __syncthreads();  // the buffer is written again
    }
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
    cumsum<T, U><<<wf::blocks(x.extent(0), 1), threads, 0, call.stream()>>>(x.view<const T, 2>(),
                                                                            y.view<U, 2>());
    return call.launched();
  });
}
