// Maximum over the last axis, one block per row with a thread per column up to 256, contiguous
// tensors: shuffles within warps, then the warps' maxima through shared memory.
// Planted fault: only whole warps are counted, so what a last partial warp found is lost.
#include "warpfuzz_kernel.hpp"

constexpr unsigned max_threads = 256;

__device__ float larger(float a, float b) { return a > b || a != a ? a : b; }  // keeps NaN

template <class T, class U>
__global__ void amax(const T* x, U* y, int64_t columns) {
  __shared__ float found[max_threads / 32];
  const T* in = x + blockIdx.x * columns;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned lanes = blockDim.x - 32 * warp < 32 ? blockDim.x - 32 * warp : 32;
  const unsigned mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;

  float maximum = -INFINITY;
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
    maximum = larger(maximum, wf::to_float(in[j]));
  }
  for (unsigned step = 16; step > 0; step /= 2) {
    const unsigned source = lane + step < lanes ? lane + step : lane;
    maximum = larger(maximum, __shfl_sync(mask, maximum, static_cast<int>(source)));
  }
  if (lane == 0) found[warp] = maximum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  maximum = found[0];
  for (unsigned w = 1; w < blockDim.x / 32; ++w) maximum = larger(maximum, found[w]);
  y[blockIdx.x] = wf::from_float<U>(maximum);
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const int64_t columns = x.extent(1);
  const unsigned threads = columns < max_threads ? static_cast<unsigned>(columns) : max_threads;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    amax<T, U><<<wf::blocks(x.extent(0), 1), threads, 0, call.stream()>>>(x.data<const T>(),
                                                                          y.data<U>(), x.extent(1));
    return call.launched();
  });
}
