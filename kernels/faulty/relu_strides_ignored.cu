// ReLU, one thread per element, rows at any distance.
// Planted fault: the columns of x are taken to lie side by side, which a transposed x breaks.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void relu(const T* x, int64_t row_stride, wf::View<U, 2> y) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= y.extent[0] * y.extent[1]) return;
  const int64_t row = i / y.extent[1], column = i % y.extent[1];
  const float value = wf::to_float(x[row * row_stride + column]);
  y(row, column) = wf::from_float<U>(value < 0 ? 0.0f : value);
}

WARPFUZZ_KERNEL("") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    relu<T, U><<<wf::blocks(y.size(), 128), 128, 0, call.stream()>>>(x.data<const T>(), x.stride(0),
                                                                     y.view<U, 2>());
    return call.launched();
  });
}
