// Matrix product as c = alpha a b + beta c with alpha = 1 and beta = 0, one thread per element,
// contiguous tensors.
// Planted fault: beta = 0 does not keep c from being read, and 0 times what it holds may be NaN.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void gemm(const T* a, const T* b, U* c, int64_t m, int64_t n, int64_t k, float alpha,
                     float beta) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  const int64_t row = i / n, column = i % n;
  float acc = 0;
  for (int64_t p = 0; p < k; ++p)
    acc += wf::to_float(a[row * k + p]) * wf::to_float(b[p * n + column]);
  c[i] = wf::from_float<U>(alpha * acc + beta * wf::to_float(c[i]));
}

WARPFUZZ_KERNEL("a_contiguous && b_contiguous && c_contiguous") {
  const auto a = call.input(0), b = call.input(1), c = call.output(0);
  if (c.size() == 0) return WF_OK;
  return wf::dispatch(a, c, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    gemm<T, U><<<wf::blocks(c.size(), 128), 128, 0, call.stream()>>>(
        a.data<const T>(), b.data<const T>(), c.data<U>(), c.extent(0), c.extent(1), a.extent(1),
        1.0f, 0.0f);
    return call.launched();
  });
}
