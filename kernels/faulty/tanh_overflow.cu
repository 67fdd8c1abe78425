// Tanh, contiguous tensors.
// Planted fault: (exp(2x) - 1) / (exp(2x) + 1) is inf / inf where exp(2x) overflows.
#include "warpfuzz_kernel.hpp"

__device__ float tanh_of(float x) {
  const float e = expf(2.0f * x);
  return (e - 1.0f) / (e + 1.0f);
}

template <class T, class U>
__global__ void tanh(const T* x, U* y, int64_t size) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < size) y[i] = wf::from_float<U>(tanh_of(wf::to_float(x[i])));
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    tanh<T, U><<<wf::blocks(y.size(), 128), 128, 0, call.stream()>>>(x.data<const T>(), y.data<U>(),
                                                                     y.size());
    return call.launched();
  });
}
