// GELU, exact or with the tanh approximation: grid-stride loop over all elements, any strides.
#include "warpfuzz_kernel.hpp"

__device__ float gelu_erf(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }

__device__ float gelu_tanh(float x) {
  const float inner = 0.79788456f * (x + 0.044715f * x * x * x);
  return 0.5f * x * (1.0f + tanhf(inner));
}

template <class T, class U>
__global__ void gelu(wf::View<const T, 2> x, wf::View<U, 2> y, bool approximate) {
  const int64_t columns = x.extent[1];
  const int64_t size = x.extent[0] * columns;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
       i += step) {
    const float value = wf::to_float(x(i / columns, i % columns));
    const float result = approximate ? gelu_tanh(value) : gelu_erf(value);
    y(i / columns, i % columns) = wf::from_float<U>(result);
  }
}

WARPFUZZ_KERNEL("") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const bool approximate = call.integer("approximate") == 1;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    gelu<T, U><<<wf::blocks(y.size(), 256, 1024), 256, 0, call.stream()>>>(
        x.view<const T, 2>(), y.view<U, 2>(), approximate);
    return call.launched();
  });
}
