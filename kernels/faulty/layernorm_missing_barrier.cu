// LayerNorm over the last axis, one block per row, shared-memory reductions.
// Planted fault: no barrier after the result of a reduction is read, so the next reduction may
// overwrite it before every thread has seen it.
#include "warpfuzz_kernel.hpp"

constexpr unsigned max_threads = 64;

// Folds the lower half onto the upper one until the last slot holds the sum.
__device__ float block_sum(float value, float* buffer) {
  const unsigned slot = blockDim.x - 1 - threadIdx.x;
  buffer[threadIdx.x] = value;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) buffer[slot] += buffer[slot - half];
    __syncthreads();
  }
  return buffer[blockDim.x - 1];
}

template <class T, class U>
__global__ void layernorm(const T* x, const T* weight, const T* bias, U* y, int64_t columns,
                          float eps) {
  __shared__ float buffer[max_threads];
  const T* in = x + blockIdx.x * columns;
  U* out = y + blockIdx.x * columns;

  float sum = 0;
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) sum += wf::to_float(in[j]);
  const float mean = block_sum(sum, buffer) / static_cast<float>(columns);

  float squares = 0;
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
    const float deviation = wf::to_float(in[j]) - mean;
    squares += deviation * deviation;
  }
  const float inverse = rsqrtf(block_sum(squares, buffer) / static_cast<float>(columns) + eps);

  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
    const float normalized = (wf::to_float(in[j]) - mean) * inverse;
    out[j] = wf::from_float<U>(normalized * wf::to_float(weight[j]) + wf::to_float(bias[j]));
  }
}

WARPFUZZ_KERNEL("W == T && x_contiguous && weight_contiguous && bias_contiguous && y_contiguous") {
  const auto x = call.input(0), weight = call.input(1), bias = call.input(2), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const float eps = static_cast<float>(call.real("eps"));
  unsigned threads = 1;
  while (threads < max_threads && threads < x.extent(1)) threads *= 2;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    layernorm<T, U><<<wf::blocks(x.extent(0), 1), threads, 0, call.stream()>>>(
        x.data<const T>(), weight.data<const T>(), bias.data<const T>(), y.data<U>(), x.extent(1),
        eps);
    return call.launched();
  });
}
