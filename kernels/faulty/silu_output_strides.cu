// SiLU, one thread per element, contiguous x.
// Planted fault: the offset of an element of x is used for y as well, whatever the strides of y.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void silu(wf::View<const T, 2> x, U* y) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= x.extent[0] * x.extent[1]) return;
  const int64_t offset = i / x.extent[1] * x.stride[0] + i % x.extent[1] * x.stride[1];
  const float value = wf::to_float(x.data[offset]);
  y[offset] = wf::from_float<U>(value / (1.0f + expf(-value)));
}

WARPFUZZ_KERNEL("x_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    silu<T, U>
        <<<wf::blocks(y.size(), 128), 128, 0, call.stream()>>>(x.view<const T, 2>(), y.data<U>());
    return call.launched();
  });
}
