// Log-sum-exp over the last axis in one pass, one thread per row.
// Planted fault: the running sum is not rescaled when the running maximum rises.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void logsumexp(const T* x, U* y, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = x + row * columns;

  float maximum = wf::to_float(in[0]);
  float sum = 1;
  for (int64_t j = 1; j < columns; ++j) {
    const float value = wf::to_float(in[j]);
    maximum = fmaxf(maximum, value);
    sum += expf(value - maximum);
  }
  y[row] = wf::from_float<U>(maximum + logf(sum));
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    logsumexp<T, U><<<wf::blocks(x.extent(0), 64), 64, 0, call.stream()>>>(
        x.data<const T>(), y.data<U>(), x.extent(0), x.extent(1));
    return call.launched();
  });
}
