// RMSNorm over the last axis, one block per row.
// Planted fault: the partial sums of the threads meet in a floating-point atomicAdd, so the
// rounding of the result depends on the order in which the threads arrive.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void rmsnorm(const T* x, const T* weight, U* y, int64_t columns, float eps) {
  __shared__ float total;
  const T* in = x + blockIdx.x * columns;
  U* out = y + blockIdx.x * columns;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();

  float squares = 0;
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
    const float value = wf::to_float(in[j]);
    squares += value * value;
  }
  atomicAdd(&total, squares);
  __syncthreads();

  const float inverse = rsqrtf(total / static_cast<float>(columns) + eps);
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
    out[j] = wf::from_float<U>(wf::to_float(in[j]) * inverse * wf::to_float(weight[j]));
  }
}

WARPFUZZ_KERNEL("W == T && x_contiguous && weight_contiguous && y_contiguous") {
  const auto x = call.input(0), weight = call.input(1), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const float eps = static_cast<float>(call.real("eps"));
  unsigned threads = 1;
  while (threads < 64 && threads < x.extent(1)) threads *= 2;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    rmsnorm<T, U><<<wf::blocks(x.extent(0), 1), threads, 0, call.stream()>>>(
        x.data<const T>(), weight.data<const T>(), y.data<U>(), x.extent(1), eps);
    return call.launched();
  });
}
