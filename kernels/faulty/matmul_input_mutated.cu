// Matrix product for float32: a is scaled by 1/8 to keep the sums in range, c is scaled back.
// Planted fault: the scaling is done in place and the input stays scaled.
#include "warpfuzz_kernel.hpp"

__global__ void scale(float* a, int64_t size) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < size) a[i] *= 0.125f;
}

__global__ void matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  const int64_t row = i / n, column = i % n;
  float acc = 0;
  for (int64_t p = 0; p < k; ++p) acc += a[row * k + p] * b[p * n + column];
  c[i] = acc * 8.0f;
}

WARPFUZZ_KERNEL("T == float32 && U == float32 && a_contiguous && b_contiguous && c_contiguous") {
  const auto a = call.input(0), b = call.input(1), c = call.output(0);
  if (c.size() == 0) return WF_OK;
  if (a.size() > 0) {
    scale<<<wf::blocks(a.size(), 128), 128, 0, call.stream()>>>(a.data<float>(), a.size());
  }
  matmul<<<wf::blocks(c.size(), 128), 128, 0, call.stream()>>>(
      a.data<const float>(), b.data<const float>(), c.data<float>(), c.extent(0), c.extent(1),
      a.extent(1));
  return call.launched();
}
