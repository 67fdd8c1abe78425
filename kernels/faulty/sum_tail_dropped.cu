// Sum over the last axis, four elements per step, one thread per row.
// Planted fault: the last columns % 4 elements are left out.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void sum(const T* x, U* y, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = x + row * columns;

  float sum = 0;
  for (int64_t j = 0; j + 4 <= columns; j += 4) {
    sum += (wf::to_float(in[j]) + wf::to_float(in[j + 1])) +
           (wf::to_float(in[j + 2]) + wf::to_float(in[j + 3]));
  }
  y[row] = wf::from_float<U>(sum);
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    sum<T, U><<<wf::blocks(x.extent(0), 64), 64, 0, call.stream()>>>(x.data<const T>(), y.data<U>(),
                                                                     x.extent(0), x.extent(1));
    return call.launched();
  });
}
