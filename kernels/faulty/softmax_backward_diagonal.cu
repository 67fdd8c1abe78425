// Gradient of softmax over the last axis, one thread per row.
// Planted fault: only the diagonal of the Jacobian, y (1 - y) dy.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void softmax_backward(const T* y, const T* dy, U* dx, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = y + row * columns;
  const T* gradient = dy + row * columns;
  U* out = dx + row * columns;

  for (int64_t j = 0; j < columns; ++j) {
    const float y_j = wf::to_float(in[j]);
    out[j] = wf::from_float<U>(y_j * (1.0f - y_j) * wf::to_float(gradient[j]));
  }
}

WARPFUZZ_KERNEL("y_contiguous && dy_contiguous && dx_contiguous") {
  const auto y = call.input(0), dy = call.input(1), dx = call.output(0);
  if (dx.size() == 0) return WF_OK;
  return wf::dispatch(y, dx, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    softmax_backward<T, U><<<wf::blocks(y.extent(0), 64), 64, 0, call.stream()>>>(
        y.data<const T>(), dy.data<const T>(), dx.data<U>(), y.extent(0), y.extent(1));
    return call.launched();
  });
}
