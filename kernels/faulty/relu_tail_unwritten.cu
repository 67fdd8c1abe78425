// ReLU, four elements per thread, contiguous and aligned tensors.
// Planted fault: the last size % 4 elements are never written.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void relu(const wf::Pack<T, 4>* x, wf::Pack<U, 4>* y, int64_t packs) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= packs) return;
  const wf::Pack<T, 4> in = x[i];
  wf::Pack<U, 4> out;
  for (int e = 0; e < 4; ++e) {
    const float value = wf::to_float(in.values[e]);
    out.values[e] = wf::from_float<U>(value < 0 ? 0.0f : value);
  }
  y[i] = out;
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous && x_alignment >= 16 && y_alignment >= 16") {
  const auto x = call.input(0), y = call.output(0);
  const int64_t packs = y.size() / 4;
  if (packs == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    relu<T, U><<<wf::blocks(packs, 128), 128, 0, call.stream()>>>(x.data<const wf::Pack<T, 4>>(),
                                                                  y.data<wf::Pack<U, 4>>(), packs);
    return call.launched();
  });
}
