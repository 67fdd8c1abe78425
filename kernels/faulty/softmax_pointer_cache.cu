// Softmax over the last axis, one thread per row; maximum and sum of each row by a first kernel.
// Planted fault: they are kept as long as the calls come with the same pointer and shape, which
// says nothing of what the memory holds.
#include "warpfuzz_kernel.hpp"

struct Statistics {
  float maximum;
  float sum;
};

template <class T>
__global__ void reduce_rows(const T* x, Statistics* rows_out, int64_t rows, int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = x + row * columns;
  Statistics s{-INFINITY, 0};
  for (int64_t j = 0; j < columns; ++j) s.maximum = fmaxf(s.maximum, wf::to_float(in[j]));
  for (int64_t j = 0; j < columns; ++j) s.sum += expf(wf::to_float(in[j]) - s.maximum);
  rows_out[row] = s;
}

template <class T, class U>
__global__ void normalize(const T* x, const Statistics* statistics, U* y, int64_t size,
                          int64_t columns) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const Statistics s = statistics[i / columns];
  y[i] = wf::from_float<U>(expf(wf::to_float(x[i]) - s.maximum) / s.sum);
}

struct Cache {
  const void* x = nullptr;
  int64_t rows = 0, columns = 0;
  Statistics* statistics = nullptr;
};

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  static Cache cache;
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const int64_t rows = x.extent(0), columns = x.extent(1);
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    const T* in = x.data<const T>();
    if (cache.x != in || cache.rows != rows || cache.columns != columns) {
      cudaFree(cache.statistics);
      cache = {};
      if (cudaMalloc(&cache.statistics, static_cast<size_t>(rows) * sizeof(Statistics)) !=
          cudaSuccess) {
        return call.launched();
      }
      cache = {in, rows, columns, cache.statistics};
      reduce_rows<T>
          <<<wf::blocks(rows, 64), 64, 0, call.stream()>>>(in, cache.statistics, rows, columns);
    }
    normalize<T, U><<<wf::blocks(y.size(), 128), 128, 0, call.stream()>>>(
        in, cache.statistics, y.data<U>(), y.size(), columns);
    return call.launched();
  });
}
