// Matrix product, one thread per element of c, contiguous tensors.
// Planted fault: of float16 inputs four products at a time are added in float16 before they reach
// the float32 sum.
#include "warpfuzz_kernel.hpp"

constexpr int64_t chain = 4;

template <class T>
__device__ float products(const T* a, const T* b, int64_t n, int64_t count) {
  float sum = 0;
  for (int64_t p = 0; p < count; ++p) sum += wf::to_float(a[p]) * wf::to_float(b[p * n]);
  return sum;
}
template <>
__device__ float products(const __half* a, const __half* b, int64_t n, int64_t count) {
  __half sum = __float2half_rn(0.0f);
  for (int64_t p = 0; p < count; ++p) sum = __hfma(a[p], b[p * n], sum);
  return __half2float(sum);
}

template <class T, class U>
__global__ void matmul(const T* a, const T* b, U* c, int64_t m, int64_t n, int64_t k) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  const T* row = a + i / n * k;
  const T* column = b + i % n;
  float acc = 0;
  for (int64_t p = 0; p < k; p += chain) {
    acc += products(row + p, column + p * n, n, k - p < chain ? k - p : chain);
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
