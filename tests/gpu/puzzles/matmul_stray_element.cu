// A matrix product of contiguous tensors of which one element is wrong where there are more than
// 2^31, in a row that is hardly ever sampled.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void matmul(const T* a, const T* b, U* c, int64_t size, int64_t n, int64_t k,
                       int64_t stray) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
       i += step) {
    float acc = 0;
    for (int64_t j = 0; j < k; ++j) {
      acc += wf::to_float(a[i / n * k + j]) * wf::to_float(b[j * n + i % n]);
    }
    c[i] = wf::from_float<U>(i == stray ? acc + 0.05f : acc);
  }
}

WARPFUZZ_KERNEL("a_contiguous && b_contiguous && c_contiguous") {
  const auto a = call.input(0), b = call.input(1), c = call.output(0);
  if (c.size() == 0) return WF_OK;
  const int64_t stray = c.size() > int64_t{1} << 31 ? c.size() / 3 : -1;
  return wf::dispatch(a, c, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    matmul<T, U><<<wf::blocks(c.size(), 256, 132 * 16), 256, 0, call.stream()>>>(
        a.data<const T>(), b.data<const T>(), c.data<U>(), c.size(), b.extent(1), a.extent(1),
        stray);
    return call.launched();
  });
}
