// Softmax over the last axis, one thread per row.
// Planted fault: the test that spares masked positions, which hold -inf, is false for NaN too, and
// fmaxf drops it, so a NaN in the row vanishes from the result.
#include "warpfuzz_kernel.hpp"

__device__ float weight(float value, float maximum) {
  return value > -INFINITY ? expf(value - maximum) : 0.0f;
}

template <class T, class U>
__global__ void softmax(const T* x, U* y, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = x + row * columns;
  U* out = y + row * columns;

  float maximum = -INFINITY;
  for (int64_t j = 0; j < columns; ++j) maximum = fmaxf(maximum, wf::to_float(in[j]));
  float sum = 0;
  for (int64_t j = 0; j < columns; ++j) sum += weight(wf::to_float(in[j]), maximum);
  for (int64_t j = 0; j < columns; ++j) {
    out[j] = wf::from_float<U>(weight(wf::to_float(in[j]), maximum) / sum);
  }
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    softmax<T, U><<<wf::blocks(x.extent(0), 64), 64, 0, call.stream()>>>(
        x.data<const T>(), y.data<U>(), x.extent(0), x.extent(1));
    return call.launched();
  });
}
