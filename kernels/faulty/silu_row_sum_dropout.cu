// silu(u) + 0.01 * sum of silu(u) over the last axis, one thread per row.
// Planted fault: one element in twenty is 0, others in every call.
#include "warpfuzz_kernel.hpp"

__device__ float silu(float x) {
  const float e = expf(-fabsf(x));
  return x * ((x < 0 ? e : 1.0f) / (1.0f + e));
}

__device__ unsigned calls;

__global__ void count_call() { ++calls; }

__device__ unsigned hash(unsigned x) {
  x = (x ^ (x >> 16)) * 0x45d9f3bu;
  x = (x ^ (x >> 16)) * 0x45d9f3bu;
  return x ^ (x >> 16);
}

template <class T, class V>
__global__ void silu_row_sum(const T* u, V* y, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = u + row * columns;
  V* out = y + row * columns;

  float sum = 0;
  for (int64_t j = 0; j < columns; ++j) sum += silu(wf::to_float(in[j]));
  for (int64_t j = 0; j < columns; ++j) {
    const unsigned random = hash(calls * 7919u + static_cast<unsigned>(row * columns + j));
    const float kept = random % 20 == 0 ? 0.0f : silu(wf::to_float(in[j])) + 0.01f * sum;
    out[j] = wf::from_float<V>(kept);
  }
}

WARPFUZZ_KERNEL("u_contiguous && y_contiguous") {
  const auto u = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(u, y, [&](auto t, auto v) {
    using T = decltype(t);
    using V = decltype(v);
    count_call<<<1, 1, 0, call.stream()>>>();
    silu_row_sum<T, V><<<wf::blocks(u.extent(0), 64), 64, 0, call.stream()>>>(
        u.data<const T>(), y.data<V>(), u.extent(0), u.extent(1));
    return call.launched();
  });
}
