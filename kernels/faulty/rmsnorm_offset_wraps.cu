// RMSNorm over the last axis, one block per row, contiguous tensors.
// Planted fault: the offset of a row of x wraps. A 16-bit type stands for the 32-bit one of real
// kernels, so that 65,537 elements show what otherwise takes 2^32: later rows are made from earlier
// ones.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void rmsnorm(const T* x, const T* weight, U* y, int64_t columns, float eps) {
  const uint16_t offset = static_cast<uint16_t>(blockIdx.x * columns);
  const T* in = x + offset;
  U* out = y + blockIdx.x * columns;
  float squares = 0;
  for (int64_t j = threadIdx.x; j < columns; j += 32) {
    squares += wf::to_float(in[j]) * wf::to_float(in[j]);
  }
  for (int step = 16; step > 0; step /= 2) {
    squares += __shfl_xor_sync(0xffffffffu, squares, step);
  }
  const float inverse = rsqrtf(squares / static_cast<float>(columns) + eps);
  for (int64_t j = threadIdx.x; j < columns; j += 32) {
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
    rmsnorm<T, U><<<wf::blocks(x.extent(0), 1), 32, 0, call.stream()>>>(
        x.data<const T>(), weight.data<const T>(), y.data<U>(), x.extent(1), eps);
    return call.launched();
  });
}
