// Matrix product, one thread per element of c, k in steps of 16, contiguous tensors.
// Planted fault: there is no loop for the last k % 16 products.
#include "warpfuzz_kernel.hpp"

constexpr int unroll = 16;

template <class T, class U>
__global__ void matmul(const T* a, const T* b, U* c, int64_t m, int64_t n, int64_t k) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  const T* a_row = a + i / n * k;
  const T* b_column = b + i % n;
  float acc = 0;
  for (int64_t p = 0; p + unroll <= k; p += unroll) {
#pragma unroll
    for (int e = 0; e < unroll; ++e) {
      acc += wf::to_float(a_row[p + e]) * wf::to_float(b_column[(p + e) * n]);
    }
  }
  c[i] = wf::from_float<U>(acc);
}

WARPFUZZ_KERNEL("a_contiguous && b_contiguous && c_contiguous") {
  const auto a = call.input(0), b = call.input(1), c = call.output(0);
  if (c.size() == 0) return WF_OK;
  return wf::dispatch(a, c, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    matmul<T, U><<<wf::blocks(c.size(), 128), 128, 0, call.stream()>>>(
        a.data<const T>(), b.data<const T>(), c.data<U>(), c.extent(0), c.extent(1), a.extent(1));
    return call.launched();
  });
}
