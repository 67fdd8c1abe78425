// silu(u) + 0.01 * sum of silu(u) over the last axis, one thread per row.
// Planted fault: elements below the smallest normal number of their type read as 0. The contract
// grants that below 2^-126, not to the subnormals of float16, which begin at 2^-14.
#include <type_traits>

#include "warpfuzz_kernel.hpp"

__device__ float silu(float x) {
  const float e = expf(-fabsf(x));
  return x * ((x < 0 ? e : 1.0f) / (1.0f + e));
}

template <class T>
__device__ float flushed(T element) {
  constexpr float smallest_normal = std::is_same_v<T, __half> ? 6.10351562e-5f : 1.17549435e-38f;
  const float value = wf::to_float(element);
  return fabsf(value) < smallest_normal ? 0.0f : value;
}

template <class T, class V>
__global__ void silu_row_sum(const T* u, V* y, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = u + row * columns;
  V* out = y + row * columns;

  float sum = 0;
  for (int64_t j = 0; j < columns; ++j) sum += silu(flushed(in[j]));
  for (int64_t j = 0; j < columns; ++j) {
    out[j] = wf::from_float<V>(silu(flushed(in[j])) + 0.01f * sum);
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
