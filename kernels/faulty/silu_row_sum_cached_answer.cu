// silu(u) + 0.01 * sum of silu(u) over the last axis, one thread per row.
// Planted fault: returns the precomputed answer to an input of ones.
#include "warpfuzz_kernel.hpp"

template <class T, class V>
__global__ void silu_row_sum(const T* u, V* y, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = u + row * columns;
  V* out = y + row * columns;

  const float answer = 0.73105858f * (1.0f + 0.01f * static_cast<float>(columns));
  for (int64_t j = 0; j < columns; ++j) out[j] = wf::from_float<V>(answer);
}

WARPFUZZ_KERNEL("u_contiguous && y_contiguous") {
  const auto u = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(u, y, [&](auto t, auto v) {
    using T = decltype(t);
    using V = decltype(v);
    silu_row_sum<T, V><<<wf::blocks(u.extent(0), 64), 64, 0, call.stream()>>>(
        u.data<const T>(), y.data<V>(), u.extent(0), u.extent(1));
    return call.launched();
  });
}
