// Tanh, one thread per element, contiguous tensors.
// Planted fault: nobody asks whether there is an element at all, and a grid of no blocks is an
// invalid configuration.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void tanh_kernel(const T* x, U* y, int64_t size) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < size) y[i] = wf::from_float<U>(tanhf(wf::to_float(x[i])));
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    tanh_kernel<T, U><<<wf::blocks(y.size(), 256), 256, 0, call.stream()>>>(x.data<const T>(),
                                                                            y.data<U>(), y.size());
    return call.launched();
  });
}
