// Matrix product of float32 matrices, one thread per element of c, contiguous tensors.
// Planted fault: the inputs are rounded to bfloat16 first, as for the tensor cores.
#include "warpfuzz_kernel.hpp"

__device__ float narrow(float value) { return __bfloat162float(__float2bfloat16_rn(value)); }

__global__ void matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  const int64_t row = i / n, column = i % n;
  float acc = 0;
  for (int64_t p = 0; p < k; ++p) acc += narrow(a[row * k + p]) * narrow(b[p * n + column]);
  c[i] = acc;
}

WARPFUZZ_KERNEL("T == float32 && a_contiguous && b_contiguous && c_contiguous") {
  const auto a = call.input(0), b = call.input(1), c = call.output(0);
  if (c.size() == 0) return WF_OK;
  matmul<<<wf::blocks(c.size(), 128), 128, 0, call.stream()>>>(
      a.data<const float>(), b.data<const float>(), c.data<float>(), c.extent(0), c.extent(1),
      a.extent(1));
  return call.launched();
}
