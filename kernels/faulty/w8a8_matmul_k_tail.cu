// Product of int8 matrices with a scale per row and per column: one thread per element,
// four products at a time.
// Planted fault: the last k % 4 products are missing.
#include "warpfuzz_kernel.hpp"

template <class U>
__global__ void w8a8_matmul(wf::View<const int8_t, 2> a, wf::View<const int8_t, 2> b,
                            const float* scale_a, const float* scale_b, wf::View<U, 2> c) {
  const int64_t n = c.extent[1], depth = a.extent[1], size = c.extent[0] * n;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t e = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; e < size;
       e += step) {
    const int64_t i = e / n, j = e % n;
    int acc = 0;
    for (int64_t k = 0; k + 4 <= depth; k += 4) {
      acc += a(i, k) * b(k, j) + a(i, k + 1) * b(k + 1, j) + a(i, k + 2) * b(k + 2, j) +
             a(i, k + 3) * b(k + 3, j);
    }
    c(i, j) = wf::from_float<U>(static_cast<float>(acc) * (scale_a[i] * scale_b[j]));
  }
}

WARPFUZZ_KERNEL("") {
  const auto a = call.input(0), b = call.input(1), c = call.output(0);
  if (c.size() == 0) return WF_OK;
  return wf::dispatch(c, [&](auto u) {
    using U = decltype(u);
    w8a8_matmul<U><<<wf::blocks(c.size(), 128, 1024), 128, 0, call.stream()>>>(
        a.view<const int8_t, 2>(), b.view<const int8_t, 2>(), call.input(2).data<const float>(),
        call.input(3).data<const float>(), c.view<U, 2>());
    return call.launched();
  });
}
