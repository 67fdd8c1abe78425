// ReLU, columns along the grid's x and rows along its y, contiguous tensors.
// Planted fault: a grid has at most 65,535 blocks along y, and the error of the launch is ignored.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void relu(const T* x, U* y, int64_t columns) {
  const int64_t column = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  const int64_t i = blockIdx.y * columns + column;
  const float value = wf::to_float(x[i]);
  y[i] = wf::from_float<U>(value < 0 ? 0.0f : value);
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    const dim3 grid(wf::blocks(x.extent(1), 32), wf::blocks(x.extent(0), 1));
    relu<T, U><<<grid, 32, 0, call.stream()>>>(x.data<const T>(), y.data<U>(), x.extent(1));
    return WF_OK;
  });
}
