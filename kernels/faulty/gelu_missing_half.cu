// GELU, exact or with the tanh approximation, contiguous tensors.
// Planted fault: the factor 0.5 is missing.
#include "warpfuzz_kernel.hpp"

__device__ float gelu_of(float x, bool approximate) {
  const float inner = 0.79788456f * (x + 0.044715f * x * x * x);
  return x * (1.0f + (approximate ? tanhf(inner) : erff(x * 0.70710678f)));
}

template <class T, class U>
__global__ void gelu(const T* x, U* y, int64_t size, bool approximate) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < size) y[i] = wf::from_float<U>(gelu_of(wf::to_float(x[i]), approximate));
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const bool approximate = call.integer("approximate") == 1;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    gelu<T, U><<<wf::blocks(y.size(), 128), 128, 0, call.stream()>>>(x.data<const T>(), y.data<U>(),
                                                                     y.size(), approximate);
    return call.launched();
  });
}
