// Softmax over the last axis, one thread per row.
// Planted fault: the masked load pads the last tile with 0 instead of -inf, so the padding adds
// exp(0 - maximum) to the sum unless the row is a multiple of 128 long.
#include "warpfuzz_kernel.hpp"

constexpr int64_t tile = 128;

template <class T>
__device__ float load(const T* row, int64_t j, int64_t columns) {
  return j < columns ? wf::to_float(row[j]) : 0.0f;
}

template <class T, class U>
__global__ void softmax(const T* x, U* y, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = x + row * columns;
  U* out = y + row * columns;
  const int64_t padded = (columns + tile - 1) / tile * tile;

  float maximum = -INFINITY;
  for (int64_t j = 0; j < padded; ++j) maximum = fmaxf(maximum, load(in, j, columns));
  float sum = 0;
  for (int64_t j = 0; j < padded; ++j) sum += expf(load(in, j, columns) - maximum);
  for (int64_t j = 0; j < columns; ++j) {
    out[j] = wf::from_float<U>(expf(load(in, j, columns) - maximum) / sum);
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
