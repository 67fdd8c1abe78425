// Sum over the last axis, one block per row.
// Planted fault: the threads' sums meet in a floating-point atomicAdd, so the bits depend on the
// order of the threads.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void sum(const T* x, U* y, int64_t columns) {
  __shared__ float total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  const T* in = x + blockIdx.x * columns;
  float partial = 0;
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) partial += wf::to_float(in[j]);
  atomicAdd(&total, partial);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = wf::from_float<U>(total);
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    sum<T, U><<<wf::blocks(x.extent(0), 1), 32, 0, call.stream()>>>(x.data<const T>(), y.data<U>(),
                                                                    x.extent(1));
    return call.launched();
  });
}
