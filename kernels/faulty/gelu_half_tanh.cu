// GELU, exact or by tanh, one thread per element, contiguous tensors.
// Planted fault: for 16-bit inputs 1 + tanh is formed in their type, where it cancels: for x below
// -3 nothing is left of it.
#include "warpfuzz_kernel.hpp"

template <class T>
__device__ float gelu_of(T element, bool approximate) {
  const float x = wf::to_float(element);
  if (!approximate) return 0.5f * x * (1.0f + erff(0.70710678f * x));
  const T tanh = wf::from_float<T>(tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
  const T sum = wf::from_float<T>(1.0f + wf::to_float(tanh));
  return 0.5f * x * wf::to_float(sum);
}

template <class T, class U>
__global__ void gelu(const T* x, U* y, int64_t size, bool approximate) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < size) y[i] = wf::from_float<U>(gelu_of(x[i], approximate));
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
