// Sigmoid, contiguous tensors.
// Planted fault: (1 + tanh(x / 2)) / 2 cancels for negative x, to 0 below -18.
#include "warpfuzz_kernel.hpp"

__device__ float sigmoid_of(float x) { return 0.5f + 0.5f * tanhf(0.5f * x); }

template <class T, class U>
__global__ void sigmoid(const T* x, U* y, int64_t size) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < size) y[i] = wf::from_float<U>(sigmoid_of(wf::to_float(x[i])));
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    sigmoid<T, U><<<wf::blocks(y.size(), 128), 128, 0, call.stream()>>>(x.data<const T>(),
                                                                        y.data<U>(), y.size());
    return call.launched();
  });
}
