// Index of the first maximum over the last axis, one thread per row, x of any strides.
// Planted fault: the index is the distance of two pointers, which is that of two elements only
// where they lie side by side.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void argmax(wf::View<const T, 2> x, U* y, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* best = &x(row, 0);
  for (int64_t j = 1; j < columns; ++j) {
    const float value = wf::to_float(x(row, j)), greatest = wf::to_float(*best);
    if (greatest != greatest) break;
    if (value > greatest || value != value) best = &x(row, j);
  }
  y[row] = static_cast<U>(best - &x(row, 0));
}

WARPFUZZ_KERNEL("y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const auto launch = [&](auto index) {
    using U = decltype(index);
    return wf::dispatch(x, [&](auto t) {
      using T = decltype(t);
      argmax<T, U><<<wf::blocks(x.extent(0), 64), 64, 0, call.stream()>>>(
          x.view<const T, 2>(), y.data<U>(), x.extent(0), x.extent(1));
      return call.launched();
    });
  };
  if (y.is(kDLInt, 64)) return launch(int64_t{});
  if (y.is(kDLInt, 32)) return launch(int32_t{});
  return WF_UNSUPPORTED;
}
