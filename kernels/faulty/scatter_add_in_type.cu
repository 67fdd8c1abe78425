// Rows scattered and added, one thread per column, in the order of the rows.
// Planted fault: sums are kept in the output, so those of 16-bit types are rounded at each
// addition.
#include "warpfuzz_kernel.hpp"

template <class I, class T>
__global__ void scatter_add(const I* index, const T* x, T* y, int64_t added, int64_t rows,
                            int64_t columns) {
  const int64_t j = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (j >= columns) return;
  for (int64_t row = 0; row < rows; ++row) y[row * columns + j] = wf::from_float<T>(0);
  for (int64_t i = 0; i < added; ++i) {
    T& sum = y[index[i] * columns + j];
    sum = wf::from_float<T>(wf::to_float(sum) + wf::to_float(x[i * columns + j]));
  }
}

WARPFUZZ_KERNEL("I == int64 && x_contiguous && y_contiguous") {
  const auto index = call.input(0), x = call.input(1), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(y, [&](auto t) {
    using T = decltype(t);
    scatter_add<int64_t, T><<<wf::blocks(y.extent(1), 64), 64, 0, call.stream()>>>(
        index.data<const int64_t>(), x.data<const T>(), y.data<T>(), x.extent(0), y.extent(0),
        y.extent(1));
    return call.launched();
  });
}
