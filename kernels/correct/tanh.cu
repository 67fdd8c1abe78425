// Tanh: grid-stride loop over all elements, any strides.
#include "warpfuzz_kernel.hpp"

__device__ float tanh_of(float x) { return tanhf(x); }

template <class T, class U>
__global__ void tanh(wf::View<const T, 2> x, wf::View<U, 2> y) {
  const int64_t columns = x.extent[1];
  const int64_t size = x.extent[0] * columns;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
       i += step) {
    const float value = wf::to_float(x(i / columns, i % columns));
    y(i / columns, i % columns) = wf::from_float<U>(tanh_of(value));
  }
}

WARPFUZZ_KERNEL("") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    tanh<T, U><<<wf::blocks(y.size(), 256, 1024), 256, 0, call.stream()>>>(x.view<const T, 2>(),
                                                                           y.view<U, 2>());
    return call.launched();
  });
}
