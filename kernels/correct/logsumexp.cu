// Log-sum-exp over the last axis: one block per row, maximum first, shared-memory reductions.
#include "warpfuzz_kernel.hpp"

constexpr unsigned max_threads = 64;

struct Maximum {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// blockDim.x is a power of two.
template <class Combine>
__device__ float block_reduce(float value, float* buffer, Combine combine) {
  const unsigned tid = threadIdx.x;
  buffer[tid] = value;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (tid < half) buffer[tid] = combine(buffer[tid], buffer[tid + half]);
    __syncthreads();
  }
  const float result = buffer[0];
  __syncthreads();  // the buffer is written again
  return result;
}

template <class T, class U>
__global__ void logsumexp(wf::View<const T, 2> x, wf::View<U, 1> y) {
  const int64_t rows = x.extent[0], columns = x.extent[1];
  __shared__ float buffer[max_threads];

  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    // fmaxf ignores NaN, but the exponential of a NaN element still reaches the sum.
    float maximum = -INFINITY;
    for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
      maximum = fmaxf(maximum, wf::to_float(x(row, j)));
    }
    maximum = block_reduce(maximum, buffer, Maximum());
    float sum = 0;
    for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
      sum += expf(wf::to_float(x(row, j)) - maximum);
    }
    sum = block_reduce(sum, buffer, Sum());
    if (threadIdx.x == 0) y(row) = wf::from_float<U>(maximum + logf(sum));
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
    logsumexp<T, U><<<wf::blocks(x.extent(0), 1), threads, 0, call.stream()>>>(x.view<const T, 2>(),
                                                                               y.view<U, 1>());
    return call.launched();
  });
}
