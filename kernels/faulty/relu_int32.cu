// ReLU, one block per row, contiguous tensors.
// Planted fault: the row index overflows. A 16-bit type stands for the 32-bit one of real kernels,
// so that 65,537 rows show what otherwise takes 2^31 elements: rows past the limit are never
// written.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void relu(const T* x, U* y, int64_t columns) {
  const uint16_t row = static_cast<uint16_t>(blockIdx.x);
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
    const float value = wf::to_float(x[row * columns + j]);
    y[row * columns + j] = wf::from_float<U>(value < 0 ? 0.0f : value);
  }
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    relu<T, U><<<wf::blocks(x.extent(0), 1), 32, 0, call.stream()>>>(x.data<const T>(), y.data<U>(),
                                                                     x.extent(1));
    return call.launched();
  });
}
