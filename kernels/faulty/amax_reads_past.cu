// Maximum over the last axis, one thread per row.
// Planted fault: <= for <, so each row also reads the element after its end; the last one reads
// past the tensor.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void amax(const T* x, U* y, int64_t rows, int64_t columns, int64_t stride) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float maximum = -INFINITY;
  for (int64_t j = 0; j <= columns; ++j) {
    const float value = wf::to_float(x[row * stride + j]);
    maximum = value > maximum || value != value ? value : maximum;
  }
  y[row] = wf::from_float<U>(maximum);
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    amax<T, U><<<wf::blocks(x.extent(0), 64), 64, 0, call.stream()>>>(
        x.data<const T>(), y.data<U>(), x.extent(0), x.extent(1), x.extent(1));
    return call.launched();
  });
}
