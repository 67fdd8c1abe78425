// GELU, contiguous tensors.
// Planted fault: the tanh approximation whatever the call asks for.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void gelu(const T* x, U* y, int64_t size) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const float value = wf::to_float(x[i]);
  const float inner = 0.79788456f * (value + 0.044715f * value * value * value);
  y[i] = wf::from_float<U>(0.5f * value * (1.0f + tanhf(inner)));
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    gelu<T, U><<<wf::blocks(y.size(), 128), 128, 0, call.stream()>>>(x.data<const T>(), y.data<U>(),
                                                                     y.size());
    return call.launched();
  });
}
