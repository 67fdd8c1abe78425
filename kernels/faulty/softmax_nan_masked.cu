// Softmax over the last axis, one thread per row, contiguous tensors. A row of -inf alone is taken
// for one that is masked throughout and gives zeros.
// Planted fault: the maximum by which such a row is recognised ignores NaN, so a NaN among -inf
// gives zeros, too.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void softmax(const T* x, U* y, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = x + row * columns;
  U* out = y + row * columns;
  float maximum = -INFINITY;
  for (int64_t j = 0; j < columns; ++j) maximum = fmaxf(maximum, wf::to_float(in[j]));
  if (maximum == -INFINITY) {
    for (int64_t j = 0; j < columns; ++j) out[j] = wf::from_float<U>(0.0f);
    return;
  }
  float sum = 0;
  for (int64_t j = 0; j < columns; ++j) sum += expf(wf::to_float(in[j]) - maximum);
  for (int64_t j = 0; j < columns; ++j) {
    out[j] = wf::from_float<U>(expf(wf::to_float(in[j]) - maximum) / sum);
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
