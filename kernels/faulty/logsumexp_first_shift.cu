// Log-sum-exp over the last axis, one thread per row, contiguous tensors.
// Planted fault: the row is shifted by its first element instead of by its maximum, so the
// exponential of a later one may overflow.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void logsumexp(const T* x, U* y, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = x + row * columns;
  const float shift = wf::to_float(in[0]);
  float sum = 0;
  for (int64_t j = 0; j < columns; ++j) sum += expf(wf::to_float(in[j]) - shift);
  y[row] = wf::from_float<U>(shift + logf(sum));
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
