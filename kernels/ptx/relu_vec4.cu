// Four elements per thread: right where the number of elements is a multiple of four and both
// tensors begin at 16 bytes, which relu_vec4.json demands.
#include <cstdint>

extern "C" __global__ void relu_vec4(const float4* x, float4* y, int32_t quads) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= quads) return;
  float4 v = x[i];
  float* const lanes = &v.x;
  for (int lane = 0; lane < 4; ++lane) {
    if (lanes[lane] <= 0) lanes[lane] = 0;  // a NaN is not <= 0 and stays
  }
  y[i] = v;
}
