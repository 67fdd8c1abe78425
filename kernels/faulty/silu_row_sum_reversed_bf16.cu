// silu(u) + 0.01 * sum of silu(u) over the last axis, one thread per row.
// Planted fault: the sum runs from the last element to the first and is kept in bfloat16.
#include "warpfuzz_kernel.hpp"

__device__ float silu(float x) {
  const float e = expf(-fabsf(x));
  return x * ((x < 0 ? e : 1.0f) / (1.0f + e));
}

template <class T, class V>
__global__ void silu_row_sum(const T* u, V* y, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = u + row * columns;
  V* out = y + row * columns;

  __nv_bfloat16 narrow = __float2bfloat16_rn(0.0f);
  for (int64_t j = columns - 1; j >= 0; --j) {
    narrow = __float2bfloat16_rn(__bfloat162float(narrow) + silu(wf::to_float(in[j])));
  }
  const float sum = __bfloat162float(narrow);
  for (int64_t j = 0; j < columns; ++j) {
    out[j] = wf::from_float<V>(silu(wf::to_float(in[j])) + 0.01f * sum);
  }
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
