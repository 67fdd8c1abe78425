// Leaky ReLU with a slope of 0.1, contiguous tensors.
// Planted fault: the slope is 0.1 instead of the one that the call asks for.
#include "warpfuzz_kernel.hpp"

__device__ float leaky_relu_of(float x) { return x > 0 ? x : 0.1f * x; }

template <class T, class U>
__global__ void leaky_relu(const T* x, U* y, int64_t size) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < size) y[i] = wf::from_float<U>(leaky_relu_of(wf::to_float(x[i])));
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    leaky_relu<T, U><<<wf::blocks(y.size(), 128), 128, 0, call.stream()>>>(x.data<const T>(),
                                                                           y.data<U>(), y.size());
    return call.launched();
  });
}
