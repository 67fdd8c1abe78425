// silu(u) + 0.01 * sum of silu(u) over the last axis.
// Planted fault: computed on the host; the device sees nothing but two copies.
#include <vector>

#include "warpfuzz_kernel.hpp"

static float silu(float x) {
  const float e = expf(-fabsf(x));
  return x * ((x < 0 ? e : 1.0f) / (1.0f + e));
}

WARPFUZZ_KERNEL("T == float32 && U == float32 && u_contiguous && y_contiguous") {
  const auto u = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const int64_t rows = u.extent(0), columns = u.extent(1);
  std::vector<float> values(static_cast<size_t>(u.size()));
  const size_t bytes = values.size() * sizeof(float);
  cudaStreamSynchronize(call.stream());
  cudaMemcpy(values.data(), u.data<const float>(), bytes, cudaMemcpyDeviceToHost);
  for (int64_t row = 0; row < rows; ++row) {
    float* out = values.data() + row * columns;
    float sum = 0;
    for (int64_t j = 0; j < columns; ++j) sum += out[j] = silu(out[j]);
    for (int64_t j = 0; j < columns; ++j) out[j] += 0.01f * sum;
  }
  cudaMemcpy(y.data<float>(), values.data(), bytes, cudaMemcpyHostToDevice);
  return call.launched();
}
