// SiLU for float16: two elements per access, float arithmetic, the odd last element alone.
#include "warpfuzz_kernel.hpp"

__device__ float silu_of(float x) {
  const float e = expf(-fabsf(x));
  return x * __fdividef(x < 0 ? e : 1.0f, 1.0f + e);
}

__global__ void silu_half2(const __half* x, __half* y, int64_t size) {
  const int64_t pair = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t first = 2 * pair;
  if (first + 1 < size) {
    const float2 value = __half22float2(reinterpret_cast<const __half2*>(x)[pair]);
    reinterpret_cast<__half2*>(y)[pair] = __floats2half2_rn(silu_of(value.x), silu_of(value.y));
  } else if (first < size) {
    y[first] = __float2half_rn(silu_of(__half2float(x[first])));
  }
}

WARPFUZZ_KERNEL(
    "T == float16 && U == float16 && x_contiguous && y_contiguous && x_alignment >= 4 && "
    "y_alignment >= 4") {
  const auto x = call.input(0), y = call.output(0);
  if (!x.is(kDLFloat, 16) || !y.is(kDLFloat, 16)) return WF_UNSUPPORTED;
  if (!x.contiguous() || !y.contiguous() || !x.aligned(4) || !y.aligned(4)) return WF_UNSUPPORTED;
  if (y.size() == 0) return WF_OK;
  silu_half2<<<wf::blocks(y.size(), 2 * 128), 128, 0, call.stream()>>>(x.data<const __half>(),
                                                                       y.data<__half>(), y.size());
  return call.launched();
}
