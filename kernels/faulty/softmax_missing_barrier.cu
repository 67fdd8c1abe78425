// Softmax over the last axis, one block per row, shared-memory reductions.
// Planted fault: no barrier between thread 0's store of the row's maximum and the other threads'
// loads of it.
#include "warpfuzz_kernel.hpp"

constexpr unsigned max_threads = 64;

template <class T, class U>
__global__ void softmax(const T* x, U* y, int64_t columns) {
  __shared__ float buffer[max_threads];
  __shared__ float row_maximum;
  __shared__ float row_sum;
  const unsigned tid = threadIdx.x;
  const T* in = x + blockIdx.x * columns;
  U* out = y + blockIdx.x * columns;

  float maximum = -INFINITY;
  for (int64_t j = tid; j < columns; j += blockDim.x) maximum = fmaxf(maximum, wf::to_float(in[j]));
  buffer[tid] = maximum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (tid < half) buffer[tid] = fmaxf(buffer[tid], buffer[tid + half]);
    __syncthreads();
  }
  if (tid == 0) row_maximum = buffer[0];

  float sum = 0;
  for (int64_t j = tid; j < columns; j += blockDim.x) {
    sum += expf(wf::to_float(in[j]) - row_maximum);
  }
  buffer[tid] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (tid < half) buffer[tid] += buffer[tid + half];
    __syncthreads();
  }
  if (tid == 0) row_sum = buffer[0];
  __syncthreads();

  for (int64_t j = tid; j < columns; j += blockDim.x) {
    out[j] = wf::from_float<U>(expf(wf::to_float(in[j]) - row_maximum) / row_sum);
  }
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  unsigned threads = 1;
  while (threads < max_threads && threads < x.extent(1)) threads *= 2;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    softmax<T, U><<<wf::blocks(x.extent(0), 1), threads, 0, call.stream()>>>(
        x.data<const T>(), y.data<U>(), x.extent(1));
    return call.launched();
  });
}
