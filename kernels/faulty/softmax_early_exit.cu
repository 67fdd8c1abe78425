// Softmax over the last axis, one block per row, shared-memory reductions.
// Planted fault: threads without a column return before the barriers of the others.
#include "warpfuzz_kernel.hpp"

constexpr unsigned threads = 64;

template <class T, class U>
__global__ void softmax(const T* x, U* y, int64_t columns) {
  __shared__ float maxima[threads];
  __shared__ float sums[threads];
  const unsigned tid = threadIdx.x;
  const T* in = x + blockIdx.x * columns;
  U* out = y + blockIdx.x * columns;
  maxima[tid] = -INFINITY;
  sums[tid] = 0;
  if (tid >= columns) return;

  for (int64_t j = tid; j < columns; j += threads) {
    maxima[tid] = fmaxf(maxima[tid], wf::to_float(in[j]));
  }
  __syncthreads();
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    if (tid < half) maxima[tid] = fmaxf(maxima[tid], maxima[tid + half]);
    __syncthreads();
  }
  const float maximum = maxima[0];

  for (int64_t j = tid; j < columns; j += threads) {
    sums[tid] += expf(wf::to_float(in[j]) - maximum);
  }
  __syncthreads();
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    if (tid < half) sums[tid] += sums[tid + half];
    __syncthreads();
  }
  const float sum = sums[0];

  for (int64_t j = tid; j < columns; j += threads) {
    out[j] = wf::from_float<U>(expf(wf::to_float(in[j]) - maximum) / sum);
  }
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    softmax<T, U><<<wf::blocks(x.extent(0), 1), threads, 0, call.stream()>>>(
        x.data<const T>(), y.data<U>(), x.extent(1));
    return call.launched();
  });
}
