// Index of the first maximum over the last axis, one thread per row.
// Planted fault: a NaN is never greater, so it is found only in the first place.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void argmax(const T* x, U* y, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = x + row * columns;

  int64_t best = 0;
  float maximum = wf::to_float(in[0]);
  for (int64_t j = 1; j < columns; ++j) {
    const float value = wf::to_float(in[j]);
    if (value > maximum) {
      maximum = value;
      best = j;
    }
  }
  y[row] = static_cast<U>(best);
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const auto launch = [&](auto index) {
    using U = decltype(index);
    return wf::dispatch(x, [&](auto t) {
      using T = decltype(t);
      argmax<T, U><<<wf::blocks(x.extent(0), 64), 64, 0, call.stream()>>>(
          x.data<const T>(), y.data<U>(), x.extent(0), x.extent(1));
      return call.launched();
    });
  };
  if (y.is(kDLInt, 64)) return launch(int64_t{});
  if (y.is(kDLInt, 32)) return launch(int32_t{});
  return WF_UNSUPPORTED;
}
