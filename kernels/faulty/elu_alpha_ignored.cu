// ELU, contiguous tensors.
// Planted fault: alpha is taken to be 1.
#include "warpfuzz_kernel.hpp"

__device__ float elu_of(float x) { return x > 0 ? x : expm1f(x); }

template <class T, class U>
__global__ void elu(const T* x, U* y, int64_t size) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < size) y[i] = wf::from_float<U>(elu_of(wf::to_float(x[i])));
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    elu<T, U><<<wf::blocks(y.size(), 128), 128, 0, call.stream()>>>(x.data<const T>(), y.data<U>(),
                                                                    y.size());
    return call.launched();
  });
}
