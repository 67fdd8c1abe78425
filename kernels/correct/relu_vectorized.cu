// ReLU: four elements per access where both tensors are contiguous and aligned, else one by one.
#include "warpfuzz_kernel.hpp"

__device__ float relu_of(float value) { return value < 0 ? 0.0f : value; }

template <class T, class U>
__global__ void relu_packs(const T* x, U* y, int64_t size) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t packs = size / 4;
  for (int64_t i = first; i < packs; i += step) {
    const auto in = reinterpret_cast<const wf::Pack<T, 4>*>(x)[i];
    wf::Pack<U, 4> out;
    for (int e = 0; e < 4; ++e) {
      out.values[e] = wf::from_float<U>(relu_of(wf::to_float(in.values[e])));
    }
    reinterpret_cast<wf::Pack<U, 4>*>(y)[i] = out;
  }
  for (int64_t i = packs * 4 + first; i < size; i += step) {
    y[i] = wf::from_float<U>(relu_of(wf::to_float(x[i])));
  }
}

template <class T, class U>
__global__ void relu_elements(wf::View<const T, 2> x, wf::View<U, 2> y) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= x.extent[0] * x.extent[1]) return;
  const int64_t row = i / x.extent[1], column = i % x.extent[1];
  y(row, column) = wf::from_float<U>(relu_of(wf::to_float(x(row, column))));
}

WARPFUZZ_KERNEL("") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    const bool packed =
        x.contiguous() && y.contiguous() && x.aligned(4 * sizeof(T)) && y.aligned(4 * sizeof(U));
    if (packed) {
      relu_packs<T, U><<<wf::blocks(y.size(), 4 * 128, 1024), 128, 0, call.stream()>>>(
          x.data<const T>(), y.data<U>(), y.size());
    } else {
      relu_elements<T, U><<<wf::blocks(y.size(), 128), 128, 0, call.stream()>>>(
          x.view<const T, 2>(), y.view<U, 2>());
    }
    return call.launched();
  });
}
