// Matrix product, one thread per element of c, contiguous tensors; four elements of a row of a per
// access, scalar tail.
// Planted fault: the tensor is aligned for that, but every row of it only where k is a multiple of
// four.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void matmul(const T* a, const T* b, U* c, int64_t m, int64_t n, int64_t k) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  const T* row = a + i / n * k;
  const T* column = b + i % n;
  float acc = 0;
  int64_t p = 0;
  for (; p + 4 <= k; p += 4) {
    const auto four = *reinterpret_cast<const wf::Pack<T, 4>*>(row + p);
    for (int e = 0; e < 4; ++e) {
      acc += wf::to_float(four.values[e]) * wf::to_float(column[(p + e) * n]);
    }
  }
  for (; p < k; ++p) acc += wf::to_float(row[p]) * wf::to_float(column[p * n]);
  c[i] = wf::from_float<U>(acc);
}

WARPFUZZ_KERNEL("a_contiguous && b_contiguous && c_contiguous && a_alignment >= 16") {
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
