// GELU, exact or by tanh, one thread per element, contiguous tensors.
// Planted fault: tanh(z) is (exp(2z) - 1) / (exp(2z) + 1), which is inf / inf where exp(2z)
// overflows: from about x = 9.5 on.
#include "warpfuzz_kernel.hpp"

__device__ float gelu_exact(float x) { return 0.5f * x * (1.0f + erff(0.70710678f * x)); }

__device__ float gelu_tanh(float x) {
  const float e = expf(2.0f * 0.79788456f * (x + 0.044715f * x * x * x));
  return 0.5f * x * (1.0f + (e - 1.0f) / (e + 1.0f));
}

template <class T, class U>
__global__ void gelu(const T* x, U* y, int64_t size, bool approximate) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const float value = wf::to_float(x[i]);
  y[i] = wf::from_float<U>(approximate ? gelu_tanh(value) : gelu_exact(value));
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
