// Softmax over the last axis for float32, one thread per row.
// Planted fault: the exponentials are kept in the input instead of being computed twice.
#include "warpfuzz_kernel.hpp"

__global__ void softmax(float* x, float* y, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float* in = x + row * columns;
  float* out = y + row * columns;

  float maximum = -INFINITY;
  for (int64_t j = 0; j < columns; ++j) maximum = fmaxf(maximum, in[j]);
  float sum = 0;
  for (int64_t j = 0; j < columns; ++j) {
    in[j] = expf(in[j] - maximum);
    sum += in[j];
  }
  for (int64_t j = 0; j < columns; ++j) out[j] = in[j] / sum;
}

WARPFUZZ_KERNEL("T == float32 && U == float32 && x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  softmax<<<wf::blocks(x.extent(0), 64), 64, 0, call.stream()>>>(x.data<float>(), y.data<float>(),
                                                                 x.extent(0), x.extent(1));
  return call.launched();
}
