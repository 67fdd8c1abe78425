// Index of the first maximum over the last axis, one thread per row, contiguous tensors. Floats are
// compared as integers in the same order, as a radix sort does.
// Planted fault: in that order -0 comes before +0 and a NaN with its sign bit set is the least of
// all.
#include "warpfuzz_kernel.hpp"

__device__ uint32_t key(float value) {
  const uint32_t bits = __float_as_uint(value);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

template <class T, class U>
__global__ void argmax(const T* x, U* y, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = x + row * columns;
  int64_t best = 0;
  for (int64_t j = 1; j < columns; ++j) {
    if (key(wf::to_float(in[j])) > key(wf::to_float(in[best]))) best = j;
  }
  y[row] = static_cast<U>(best);
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const auto launch = [&](auto index) {
    using U = decltype(index);
    return wf::dispatch(x, [&](auto t) {
      using T = decltype(t);
      argmax<T, U><<<wf::blocks(x.extent(0), 64), 64, 0, call.stream()>>>(
          x.data<const T>(), y.data<U>(), x.extent(0), x.extent(1));
      return call.launched();
    });
  };
  if (y.is(kDLInt, 64)) return launch(int64_t{});
  if (y.is(kDLInt, 32)) return launch(int32_t{});
  return WF_UNSUPPORTED;
}
