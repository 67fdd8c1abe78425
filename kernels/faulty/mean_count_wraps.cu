// Mean over the last axis, one thread per row, contiguous tensors.
// Planted fault: the number of columns wraps. A 16-bit type stands for the 32-bit one of real
// kernels, so that 65,536 columns show what otherwise takes 2^32.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void mean(const T* x, U* y, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = x + row * columns;
  float sum = 0;
  uint16_t count = 0;
  for (int64_t j = 0; j < columns; ++j) {
    sum += wf::to_float(in[j]);
    ++count;
  }
  y[row] = wf::from_float<U>(sum / static_cast<float>(count));
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    mean<T, U><<<wf::blocks(x.extent(0), 64), 64, 0, call.stream()>>>(
        x.data<const T>(), y.data<U>(), x.extent(0), x.extent(1));
    return call.launched();
  });
}
