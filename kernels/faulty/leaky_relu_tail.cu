// Leaky ReLU, four elements per access where contiguous and aligned, scalar tail.
// Planted fault: the tail is that of ReLU, without the slope.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void leaky_relu(const T* x, U* y, int64_t size, float slope) {
  const int64_t first = 4 * (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x);
  if (first + 4 <= size) {
    const auto in = *reinterpret_cast<const wf::Pack<T, 4>*>(x + first);
    wf::Pack<U, 4> out;
    for (int e = 0; e < 4; ++e) {
      const float value = wf::to_float(in.values[e]);
      out.values[e] = wf::from_float<U>(value > 0 ? value : slope * value);
    }
    *reinterpret_cast<wf::Pack<U, 4>*>(y + first) = out;
  } else {
    for (int64_t i = first; i < size; ++i) {
      const float value = wf::to_float(x[i]);
      y[i] = wf::from_float<U>(value < 0 ? 0.0f : value);
    }
  }
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous && x_alignment >= 16 && y_alignment >= 16") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const float slope = static_cast<float>(call.real("negative_slope"));
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    leaky_relu<T, U><<<wf::blocks(y.size(), 4 * 128), 128, 0, call.stream()>>>(
        x.data<const T>(), y.data<U>(), y.size(), slope);
    return call.launched();
  });
}
