// Softmax over the last axis: one warp per row with shuffles; short rows share a warp.
// Planted fault: the exponential is exp2 of one fused multiply-add, whose addend max * log2 e is
// rounded before: for large logits that rounding is the exponent, and exp2 overflows or vanishes.
#include "warpfuzz_kernel.hpp"

constexpr unsigned all_lanes = 0xffffffff;
constexpr int threads_per_block = 64;

constexpr float log2_e = 1.4426950408889634f;

template <class T, class U>
__global__ void softmax_warp(wf::View<const T, 2> x, wf::View<U, 2> y, int width) {
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t row = thread / width;
  const int lane = static_cast<int>(thread % width);
  // Lanes past the last row take part in the shuffles with nothing to add.
  const int64_t columns = row < x.extent[0] ? x.extent[1] : 0;

  float maximum = -INFINITY;
  for (int64_t j = lane; j < columns; j += width) {
    maximum = fmaxf(maximum, wf::to_float(x(row, j)));
  }
  for (int offset = width / 2; offset > 0; offset /= 2) {
    maximum = fmaxf(maximum, __shfl_xor_sync(all_lanes, maximum, offset, width));
  }

  const float shift = maximum * log2_e;
  float sum = 0;
  for (int64_t j = lane; j < columns; j += width) {
    sum += exp2f(fmaf(wf::to_float(x(row, j)), log2_e, -shift));
  }
  for (int offset = width / 2; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(all_lanes, sum, offset, width);
  }

  for (int64_t j = lane; j < columns; j += width) {
    y(row, j) = wf::from_float<U>(exp2f(fmaf(wf::to_float(x(row, j)), log2_e, -shift)) / sum);
  }
}

WARPFUZZ_KERNEL("") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  int width = 1;
  while (width < 32 && width < x.extent(1)) width *= 2;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    softmax_warp<T, U><<<wf::blocks(x.extent(0) * width, threads_per_block), threads_per_block, 0,
                         call.stream()>>>(x.view<const T, 2>(), y.view<U, 2>(), width);
    return call.launched();
  });
}
