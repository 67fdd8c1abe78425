// Matrix product, one thread per element of c; b is transposed into a buffer of the kernel's own
// first, so that both operands are read along k.
// Planted fault: the buffer is filled only when the shape of b changes: a second b of the same
// shape is never seen.
#include "warpfuzz_kernel.hpp"

template <class T>
__global__ void pack(const T* b, float* packed, int64_t n, int64_t k) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n * k) packed[i % n * k + i / n] = wf::to_float(b[i]);
}

template <class T, class U>
__global__ void matmul(const T* a, const float* packed, U* c, int64_t m, int64_t n, int64_t k) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  const T* row = a + i / n * k;
  const float* column = packed + i % n * k;
  float acc = 0;
  for (int64_t p = 0; p < k; ++p) acc += wf::to_float(row[p]) * column[p];
  c[i] = wf::from_float<U>(acc);
}

struct Packed {
  float* data = nullptr;
  int64_t n = 0, k = 0;
};

WARPFUZZ_KERNEL("a_contiguous && b_contiguous && c_contiguous") {
  static Packed packed;
  const auto a = call.input(0), b = call.input(1), c = call.output(0);
  if (c.size() == 0) return WF_OK;
  const int64_t m = c.extent(0), n = c.extent(1), k = a.extent(1);
  return wf::dispatch(a, c, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    if (k > 0 && (packed.n != n || packed.k != k)) {
      cudaFree(packed.data);
      packed = {};
      if (cudaMalloc(&packed.data, sizeof(float) * static_cast<size_t>(n * k)) != cudaSuccess) {
        return call.launched();
      }
      packed = {packed.data, n, k};
      pack<T>
          <<<wf::blocks(n * k, 128), 128, 0, call.stream()>>>(b.data<const T>(), packed.data, n, k);
    }
    matmul<T, U><<<wf::blocks(c.size(), 128), 128, 0, call.stream()>>>(
        a.data<const T>(), packed.data, c.data<U>(), m, n, k);
    return call.launched();
  });
}
