// Prefix sums along the last axis, one thread per row, contiguous tensors.
// Planted fault: the running sum has the type of the elements.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void cumsum(const T* x, U* y, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  T sum = wf::from_float<T>(0.0f);
  for (int64_t j = row * columns; j < (row + 1) * columns; ++j) {
    sum = wf::from_float<T>(wf::to_float(sum) + wf::to_float(x[j]));
    y[j] = wf::from_float<U>(wf::to_float(sum));
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
