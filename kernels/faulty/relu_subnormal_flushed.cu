// ReLU, one thread per element, contiguous tensors.
// Planted fault: compares with the smallest normal number, so positive subnormals become 0.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void relu(const T* x, U* y, int64_t size) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const float value = wf::to_float(x[i]);
  y[i] = wf::from_float<U>(value < 1.17549435e-38f ? 0.0f : value);
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    relu<T, U><<<wf::blocks(y.size(), 128), 128, 0, call.stream()>>>(x.data<const T>(), y.data<U>(),
                                                                     y.size());
    return call.launched();
  });
}
