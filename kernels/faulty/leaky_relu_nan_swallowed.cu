// Leaky ReLU, contiguous tensors.
// Planted fault: max(x, 0) + slope * min(x, 0) makes 0 of NaN.
#include "warpfuzz_kernel.hpp"

__device__ float leaky_relu_of(float x, float negative_slope) {
  return fmaxf(x, 0.0f) + negative_slope * fminf(x, 0.0f);
}

template <class T, class U>
__global__ void leaky_relu(const T* x, U* y, int64_t size, float negative_slope) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < size) y[i] = wf::from_float<U>(leaky_relu_of(wf::to_float(x[i]), negative_slope));
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const float negative_slope = static_cast<float>(call.real("negative_slope"));
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    leaky_relu<T, U><<<wf::blocks(y.size(), 128), 128, 0, call.stream()>>>(
        x.data<const T>(), y.data<U>(), y.size(), negative_slope);
    return call.launched();
  });
}
