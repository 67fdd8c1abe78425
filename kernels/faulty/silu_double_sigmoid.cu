// SiLU, x * sigmoid(x), contiguous tensors.
// Planted fault: sigmoid(2x), as a sigmoid made from tanh(x) without halving its argument.
#include "warpfuzz_kernel.hpp"

__device__ float sigmoid(float x) {
  const float e = expf(-2.0f * fabsf(x));
  return (x < 0 ? e : 1.0f) / (1.0f + e);
}

template <class T, class U>
__global__ void silu(const T* x, U* y, int64_t size) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const float value = wf::to_float(x[i]);
  y[i] = wf::from_float<U>(value * sigmoid(value));
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    silu<T, U><<<wf::blocks(y.size(), 128), 128, 0, call.stream()>>>(x.data<const T>(), y.data<U>(),
                                                                     y.size());
    return call.launched();
  });
}
