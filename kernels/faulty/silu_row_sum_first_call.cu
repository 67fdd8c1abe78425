// silu(u) + 0.01 * sum of silu(u) over the last axis, one thread per row.
// Planted fault: the result of the first call is kept and handed out whenever a call has its shape.
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

  float sum = 0;
  for (int64_t j = 0; j < columns; ++j) sum += silu(wf::to_float(in[j]));
  for (int64_t j = 0; j < columns; ++j) {
    out[j] = wf::from_float<V>(silu(wf::to_float(in[j])) + 0.01f * sum);
  }
}

struct Memo {
  void* result = nullptr;
  int64_t rows = -1, columns = -1;
  size_t bytes = 0;
};

WARPFUZZ_KERNEL("u_contiguous && y_contiguous") {
  static Memo memo;
  const auto u = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const int64_t rows = u.extent(0), columns = u.extent(1);
  return wf::dispatch(u, y, [&](auto t, auto v) {
    using T = decltype(t);
    using V = decltype(v);
    const size_t bytes = static_cast<size_t>(y.size()) * sizeof(V);
    if (memo.rows == rows && memo.columns == columns && memo.bytes == bytes) {
      cudaMemcpyAsync(y.data<V>(), memo.result, bytes, cudaMemcpyDeviceToDevice, call.stream());
      return call.launched();
    }
    silu_row_sum<T, V><<<wf::blocks(rows, 64), 64, 0, call.stream()>>>(u.data<const T>(),
                                                                       y.data<V>(), rows, columns);
    if (memo.rows < 0 && cudaMalloc(&memo.result, bytes) == cudaSuccess) {
      memo.rows = rows;
      memo.columns = columns;
      memo.bytes = bytes;
      cudaMemcpyAsync(memo.result, y.data<V>(), bytes, cudaMemcpyDeviceToDevice, call.stream());
    }
    return call.launched();
  });
}
