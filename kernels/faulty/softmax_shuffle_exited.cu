// Softmax over the last axis, one warp per row with shuffles.
// Planted fault: lanes without a column return, and the others then shuffle with the full mask.
#include "warpfuzz_kernel.hpp"

__device__ float warp_max(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, offset));
  }
  return value;
}

__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, offset);
  }
  return value;
}

template <class T, class U>
__global__ void softmax(const T* x, U* y, int64_t columns) {
  const T* in = x + blockIdx.x * columns;
  U* out = y + blockIdx.x * columns;
  if (threadIdx.x >= columns) return;

  float maximum = -INFINITY;
  for (int64_t j = threadIdx.x; j < columns; j += 32) {
    maximum = fmaxf(maximum, wf::to_float(in[j]));
  }
  maximum = warp_max(maximum);

  float sum = 0;
  for (int64_t j = threadIdx.x; j < columns; j += 32) sum += expf(wf::to_float(in[j]) - maximum);
  sum = warp_sum(sum);

  for (int64_t j = threadIdx.x; j < columns; j += 32) {
    out[j] = wf::from_float<U>(expf(wf::to_float(in[j]) - maximum) / sum);
  }
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    softmax<T, U><<<wf::blocks(x.extent(0), 1), 32, 0, call.stream()>>>(x.data<const T>(),
                                                                        y.data<U>(), x.extent(1));
    return call.launched();
  });
}
