// Quantisation to int8 with a scale per row: one block per row, shared-memory maximum.
#include "warpfuzz_kernel.hpp"

constexpr unsigned max_threads = 64;

template <class T>
__global__ void quantize(wf::View<const T, 2> x, wf::View<int8_t, 2> q, float* scales) {
  __shared__ float buffer[max_threads];
  const int64_t rows = x.extent[0], columns = x.extent[1];
  const unsigned tid = threadIdx.x;

  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    float largest = 0;
    for (int64_t j = tid; j < columns; j += blockDim.x) {
      largest = fmaxf(largest, fabsf(wf::to_float(x(row, j))));
    }
    buffer[tid] = largest;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
      if (tid < half) buffer[tid] = fmaxf(buffer[tid], buffer[tid + half]);
      __syncthreads();
    }
    const float scale = buffer[0] / 127.0f;
    const float inverse = scale > 0 ? 1 / scale : 0;  // a row of zeros: codes 0
    for (int64_t j = tid; j < columns; j += blockDim.x) {
      const float code = wf::to_float(x(row, j)) * inverse;
      q(row, j) = static_cast<int8_t>(rintf(fminf(fmaxf(code, -127.0f), 127.0f)));
    }
    if (tid == 0) scales[row] = scale;
    __syncthreads();  // the buffer is written again
  }
}

WARPFUZZ_KERNEL("") {
  const auto x = call.input(0), q = call.output(0), scale = call.output(1);
  if (q.size() == 0) return WF_OK;
  unsigned threads = 1;
  while (threads < max_threads && threads < x.extent(1)) threads *= 2;
  return wf::dispatch(x, [&](auto t) {
    using T = decltype(t);
    quantize<T><<<wf::blocks(x.extent(0), 1), threads, 0, call.stream()>>>(
        x.view<const T, 2>(), q.view<int8_t, 2>(), scale.data<float>());
    return call.launched();
  });
}
