// RMSNorm over the last axis, one block of two warps per row: shuffles inside a warp, shared memory
// between the warps.
// Planted fault: no barrier between the warps' stores of their sums and the loads of all of them.
#include "warpfuzz_kernel.hpp"

constexpr unsigned all_lanes = 0xffffffff;
constexpr int threads = 64;
constexpr int warps = threads / 32;

template <class T, class U>
__global__ void rmsnorm(const T* x, const T* weight, U* y, int64_t columns, float eps) {
  __shared__ float sums[warps];
  const T* in = x + blockIdx.x * columns;
  U* out = y + blockIdx.x * columns;

  float squares = 0;
  for (int64_t j = threadIdx.x; j < columns; j += threads) {
    const float value = wf::to_float(in[j]);
    squares += value * value;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    squares += __shfl_down_sync(all_lanes, squares, offset);
  }
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = squares;

  float total = 0;
  for (int warp = 0; warp < warps; ++warp) total += sums[warp];
  const float inverse = rsqrtf(total / static_cast<float>(columns) + eps);
  for (int64_t j = threadIdx.x; j < columns; j += threads) {
    out[j] = wf::from_float<U>(wf::to_float(in[j]) * inverse * wf::to_float(weight[j]));
  }
}

WARPFUZZ_KERNEL("W == T && x_contiguous && weight_contiguous && y_contiguous") {
  const auto x = call.input(0), weight = call.input(1), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const float eps = static_cast<float>(call.real("eps"));
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    rmsnorm<T, U><<<wf::blocks(x.extent(0), 1), threads, 0, call.stream()>>>(
        x.data<const T>(), weight.data<const T>(), y.data<U>(), x.extent(1), eps);
    return call.launched();
  });
}
