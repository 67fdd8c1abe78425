// Maximum over the last axis: one block per row, shared-memory reduction.
#include "warpfuzz_kernel.hpp"

constexpr unsigned max_threads = 64;

__device__ float larger(float a, float b) { return a > b || a != a ? a : b; }  // keeps NaN

template <class T, class U>
__global__ void amax(wf::View<const T, 2> x, wf::View<U, 1> y) {
  const int64_t rows = x.extent[0], columns = x.extent[1];
  __shared__ float buffer[max_threads];
  const unsigned tid = threadIdx.x;

  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    float maximum = -INFINITY;
    for (int64_t j = tid; j < columns; j += blockDim.x) {
      maximum = larger(maximum, wf::to_float(x(row, j)));
    }
    buffer[tid] = maximum;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
      if (tid < half) buffer[tid] = larger(buffer[tid], buffer[tid + half]);
      __syncthreads();
    }
    if (tid == 0) y(row) = wf::from_float<U>(buffer[0]);
    __syncthreads();  // the buffer is written again
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
    amax<T, U><<<wf::blocks(x.extent(0), 1), threads, 0, call.stream()>>>(x.view<const T, 2>(),
                                                                          y.view<U, 1>());
    return call.launched();
  });
}
