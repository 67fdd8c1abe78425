// Softmax over the last axis, online: maximum and sum in one pass, merged across the warp.
#include "warpfuzz_kernel.hpp"

constexpr unsigned all_lanes = 0xffffffff;
constexpr int threads_per_block = 64;

// sum is the sum of exp(x - maximum) over the elements seen so far.
struct Running {
  float maximum = -INFINITY;
  float sum = 0;
};

// Factor that moves a sum from one maximum to another; 1 also where both are infinite.
__device__ float rescale(float from, float to) { return from == to ? 1.0f : expf(from - to); }

__device__ void add(Running& r, float value) {
  const float maximum = fmaxf(r.maximum, value);
  // While only -inf has been seen, value - maximum would be NaN.
  const float weight = value == -INFINITY ? 0.0f : expf(value - maximum);
  r.sum = r.sum * rescale(r.maximum, maximum) + weight;
  r.maximum = maximum;
}

__device__ Running merge(const Running& a, const Running& b) {
  Running r;
  r.maximum = fmaxf(a.maximum, b.maximum);
  r.sum = a.sum * rescale(a.maximum, r.maximum) + b.sum * rescale(b.maximum, r.maximum);
  return r;
}

template <class T, class U>
__global__ void softmax_online(wf::View<const T, 2> x, wf::View<U, 2> y, int width) {
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t row = thread / width;
  const int lane = static_cast<int>(thread % width);
  const int64_t columns = row < x.extent[0] ? x.extent[1] : 0;

  Running running;
  for (int64_t j = lane; j < columns; j += width) add(running, wf::to_float(x(row, j)));
  for (int offset = width / 2; offset > 0; offset /= 2) {
    Running other;
    other.maximum = __shfl_xor_sync(all_lanes, running.maximum, offset, width);
    other.sum = __shfl_xor_sync(all_lanes, running.sum, offset, width);
    running = merge(running, other);
  }
  for (int64_t j = lane; j < columns; j += width) {
    const float weight = expf(wf::to_float(x(row, j)) - running.maximum);
    y(row, j) = wf::from_float<U>(weight / running.sum);
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
    softmax_online<T, U><<<wf::blocks(x.extent(0) * width, threads_per_block), threads_per_block, 0,
                           call.stream()>>>(x.view<const T, 2>(), y.view<U, 2>(), width);
    return call.launched();
  });
}
