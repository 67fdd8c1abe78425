// Softmax over the last axis: one block per row, the whole row in dynamic shared memory.
// Planted fault: rows of more than 12,288 columns need more than the 48 KiB that a kernel gets
// unless it asks for more, and nobody looks at the launch's error.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void softmax(const T* x, U* y, int64_t columns) {
  extern __shared__ float row[];
  const T* in = x + blockIdx.x * columns;
  U* out = y + blockIdx.x * columns;
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) row[j] = wf::to_float(in[j]);
  __syncthreads();

  float maximum = -INFINITY;
  for (int64_t j = 0; j < columns; ++j) maximum = fmaxf(maximum, row[j]);
  float sum = 0;
  for (int64_t j = 0; j < columns; ++j) sum += expf(row[j] - maximum);
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
    out[j] = wf::from_float<U>(expf(row[j] - maximum) / sum);
  }
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous && m <= 65535") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    softmax<T, U>
        <<<static_cast<unsigned>(x.extent(0)), 32, static_cast<size_t>(x.extent(1)) * sizeof(float),
           call.stream()>>>(x.data<const T>(), y.data<U>(), x.extent(1));
    return WF_OK;
  });
}
