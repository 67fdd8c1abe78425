// Matrix product: one thread per element of c, any strides.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void matmul(wf::View<const T, 2> a, wf::View<const T, 2> b, wf::View<U, 2> c) {
  const int64_t columns = c.extent[1];
  const int64_t size = c.extent[0] * columns;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
       i += step) {
    const int64_t row = i / columns, column = i % columns;
    float acc = 0;
    for (int64_t k = 0; k < a.extent[1]; ++k) {
      acc += wf::to_float(a(row, k)) * wf::to_float(b(k, column));
    }
    c(row, column) = wf::from_float<U>(acc);
  }
}

WARPFUZZ_KERNEL("") {
  const auto a = call.input(0), b = call.input(1), c = call.output(0);
  if (c.size() == 0) return WF_OK;
  return wf::dispatch(a, c, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    matmul<T, U><<<wf::blocks(c.size(), 128), 128, 0, call.stream()>>>(
        a.view<const T, 2>(), b.view<const T, 2>(), c.view<U, 2>());
    return call.launched();
  });
}
