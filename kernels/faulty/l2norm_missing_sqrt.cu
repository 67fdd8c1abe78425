// L2 norm over the last axis, one thread per row.
// Planted fault: divides by the sum of squares instead of its root.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void l2norm(const T* x, U* y, int64_t rows, int64_t columns, float eps) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = x + row * columns;
  U* out = y + row * columns;

  float squares = 0;
  for (int64_t j = 0; j < columns; ++j) {
    const float value = wf::to_float(in[j]);
    squares += value * value;
  }
  const float inverse = 1.0f / (squares + eps);
  for (int64_t j = 0; j < columns; ++j) out[j] = wf::from_float<U>(wf::to_float(in[j]) * inverse);
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const float eps = static_cast<float>(call.real("eps"));
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    l2norm<T, U><<<wf::blocks(x.extent(0), 64), 64, 0, call.stream()>>>(
        x.data<const T>(), y.data<U>(), x.extent(0), x.extent(1), eps);
    return call.launched();
  });
}
