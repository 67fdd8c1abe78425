// GELU, exact (through erfc) or tanh: contiguous tensors, four elements per access, scalar tail.
#include "warpfuzz_kernel.hpp"

template <bool Approximate>
__device__ float gelu_of(float x) {
  if (!Approximate) return 0.5f * x * erfcf(-0.70710678f * x);
  const float inner = 0.79788456f * fmaf(0.044715f * x, x * x, x);
  return 0.5f * x * (1.0f + tanhf(inner));
}

template <bool Approximate, class T, class U>
__global__ void gelu(const T* x, U* y, int64_t size) {
  const int64_t first = 4 * (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x);
  if (first + 4 <= size) {
    const auto in = *reinterpret_cast<const wf::Pack<T, 4>*>(x + first);
    wf::Pack<U, 4> out;
    for (int e = 0; e < 4; ++e) {
      out.values[e] = wf::from_float<U>(gelu_of<Approximate>(wf::to_float(in.values[e])));
    }
    *reinterpret_cast<wf::Pack<U, 4>*>(y + first) = out;
  } else {
    for (int64_t i = first; i < size; ++i) {
      y[i] = wf::from_float<U>(gelu_of<Approximate>(wf::to_float(x[i])));
    }
  }
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous && x_alignment >= 16 && y_alignment >= 16") {
  const auto x = call.input(0), y = call.output(0);
  if (!x.contiguous() || !y.contiguous() || !x.aligned(16) || !y.aligned(16)) return WF_UNSUPPORTED;
  if (y.size() == 0) return WF_OK;
  const bool approximate = call.integer("approximate") == 1;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    const auto kernel = approximate ? gelu<true, T, U> : gelu<false, T, U>;
    kernel<<<wf::blocks(y.size(), 4 * 128), 128, 0, call.stream()>>>(x.data<const T>(), y.data<U>(),
                                                                     y.size());
    return call.launched();
  });
}
