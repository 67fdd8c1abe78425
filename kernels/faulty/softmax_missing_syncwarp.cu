// Softmax over the last axis, one warp per row: maximum and sum by a tree in shared memory.
// Planted fault: no __syncwarp() between the steps of the tree. It worked while the lanes of a warp
// ran in lockstep.
#include "warpfuzz_kernel.hpp"

constexpr int warp = 32;

template <class Combine>
__device__ float warp_reduce(float value, float* slots, Combine combine) {
  const int lane = threadIdx.x;
  slots[lane] = value;
  for (int half = warp / 2; half > 0; half /= 2) {
    if (lane < half) slots[lane] = combine(slots[lane], slots[lane + half]);
  }
  __syncwarp();
  const float result = slots[0];
  __syncwarp();
  return result;
}

template <class T, class U>
__global__ void softmax(const T* x, U* y, int64_t columns) {
  __shared__ float slots[warp];
  const T* in = x + blockIdx.x * columns;
  U* out = y + blockIdx.x * columns;

  float maximum = -INFINITY;
  for (int64_t j = threadIdx.x; j < columns; j += warp) {
    maximum = fmaxf(maximum, wf::to_float(in[j]));
  }
  maximum = warp_reduce(maximum, slots, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (int64_t j = threadIdx.x; j < columns; j += warp) sum += expf(wf::to_float(in[j]) - maximum);
  sum = warp_reduce(sum, slots, [](float a, float b) { return a + b; });
  for (int64_t j = threadIdx.x; j < columns; j += warp) {
    out[j] = wf::from_float<U>(expf(wf::to_float(in[j]) - maximum) / sum);
  }
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    softmax<T, U><<<wf::blocks(x.extent(0), 1), warp, 0, call.stream()>>>(x.data<const T>(),
                                                                          y.data<U>(), x.extent(1));
    return call.launched();
  });
}
