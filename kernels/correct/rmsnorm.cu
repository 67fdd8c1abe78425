// RMSNorm over the last axis: one block per row, shared-memory reduction of the squares.
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

template <class T, class W, class U>
__global__ void rmsnorm(wf::View<const T, 2> x, wf::View<const W, 1> weight, wf::View<U, 2> y,
                        float eps) {
  __shared__ float buffer[max_threads];
  const int64_t rows = x.extent[0], columns = x.extent[1];

  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    float squares = 0;
    for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
      const float value = wf::to_float(x(row, j));
      squares += value * value;
    }
    squares = block_sum(squares, buffer);
    const float inverse = rsqrtf(squares / static_cast<float>(columns) + eps);
    for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
      y(row, j) = wf::from_float<U>(wf::to_float(x(row, j)) * inverse * wf::to_float(weight(j)));
    }
  }
}

WARPFUZZ_KERNEL("") {
  const auto x = call.input(0), weight = call.input(1), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const float eps = static_cast<float>(call.real("eps"));
  unsigned threads = 1;
  while (threads < max_threads && threads < x.extent(1)) threads *= 2;
  return wf::dispatch<wf::Types<float, float, float>, wf::Types<float, float, __half>,
                      wf::Types<__half, __half, __half>, wf::Types<__half, float, __half>,
                      wf::Types<__half, __half, float>,
                      wf::Types<__nv_bfloat16, __nv_bfloat16, __nv_bfloat16>,
                      wf::Types<__nv_bfloat16, float, __nv_bfloat16>,
                      wf::Types<__nv_bfloat16, __nv_bfloat16, float>>(
      x, weight, y, [&](auto t, auto w, auto u) {
        using T = decltype(t);
        using W = decltype(w);
        using U = decltype(u);
        rmsnorm<T, W, U><<<wf::blocks(x.extent(0), 1), threads, 0, call.stream()>>>(
            x.view<const T, 2>(), weight.view<const W, 1>(), y.view<U, 2>(), eps);
        return call.launched();
      });
}
