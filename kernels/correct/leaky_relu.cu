// Leaky ReLU: grid-stride loop over all elements, any strides.
#include "warpfuzz_kernel.hpp"

__device__ float leaky_relu_of(float x, float negative_slope) {
  return x > 0 ? x : negative_slope * x;
}

template <class T, class U>
__global__ void leaky_relu(wf::View<const T, 2> x, wf::View<U, 2> y, float negative_slope) {
  const int64_t columns = x.extent[1];
  const int64_t size = x.extent[0] * columns;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
       i += step) {
    const float value = wf::to_float(x(i / columns, i % columns));
    y(i / columns, i % columns) = wf::from_float<U>(leaky_relu_of(value, negative_slope));
  }
}

WARPFUZZ_KERNEL("") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const float negative_slope = static_cast<float>(call.real("negative_slope"));
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    leaky_relu<T, U><<<wf::blocks(y.size(), 256, 1024), 256, 0, call.stream()>>>(
        x.view<const T, 2>(), y.view<U, 2>(), negative_slope);
    return call.launched();
  });
}
