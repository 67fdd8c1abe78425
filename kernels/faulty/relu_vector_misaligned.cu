// ReLU for float32, four elements per access, scalar tail, contiguous tensors.
// Planted fault: nobody asks whether x and y are aligned for float4.
#include "warpfuzz_kernel.hpp"

__device__ float relu_of(float value) { return value < 0 ? 0.0f : value; }

__global__ void relu(const float* x, float* y, int64_t size) {
  const int64_t first = 4 * (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x);
  if (first + 4 <= size) {
    float4 v = *reinterpret_cast<const float4*>(x + first);
    v.x = relu_of(v.x);
    v.y = relu_of(v.y);
    v.z = relu_of(v.z);
    v.w = relu_of(v.w);
    *reinterpret_cast<float4*>(y + first) = v;
  } else {
    for (int64_t i = first; i < size; ++i) y[i] = relu_of(x[i]);
  }
}

WARPFUZZ_KERNEL("T == float32 && U == float32 && x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  relu<<<wf::blocks(y.size(), 4 * 128), 128, 0, call.stream()>>>(x.data<const float>(),
                                                                 y.data<float>(), y.size());
  return call.launched();
}
