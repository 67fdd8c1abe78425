// Prefix sums along the last axis in tiles of 128, one thread per row.
// Planted fault: each tile starts again from 0.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void cumsum(const T* x, U* y, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = x + row * columns;
  U* out = y + row * columns;

  float sum = 0;
  for (int64_t j = 0; j < columns; ++j) {
    if (j % 128 == 0) sum = 0;
    sum += wf::to_float(in[j]);
    out[j] = wf::from_float<U>(sum);
  }
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    cumsum<T, U><<<wf::blocks(x.extent(0), 64), 64, 0, call.stream()>>>(
        x.data<const T>(), y.data<U>(), x.extent(0), x.extent(1));
    return call.launched();
  });
}
