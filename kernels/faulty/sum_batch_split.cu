// Sum over the last axis in two steps: partial sums of slices of each row, then their sum.
// Planted fault: few rows are cut into more slices than many, to fill the device, so the bits of a
// row depend on how many others are computed with it.
#include "warpfuzz_kernel.hpp"

constexpr int64_t most_slices = 8;
constexpr int64_t wanted_threads = 16;

template <class T>
__global__ void sum_slices(const T* x, float* partial, int64_t rows, int64_t columns,
                           int64_t slices) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= rows * slices) return;
  const int64_t row = i / slices, slice = i % slices;
  float sum = 0;
  for (int64_t j = slice; j < columns; j += slices) sum += wf::to_float(x[row * columns + j]);
  partial[i] = sum;
}

template <class U>
__global__ void sum_partials(const float* partial, U* y, int64_t rows, int64_t slices) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int64_t s = 0; s < slices; ++s) sum += partial[row * slices + s];
  y[row] = wf::from_float<U>(sum);
}

WARPFUZZ_WORKSPACE() {
  return sizeof(float) * static_cast<uint64_t>(most_slices * call.input(0).extent(0));
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const int64_t rows = x.extent(0), columns = x.extent(1);
  int64_t slices = 1;
  while (slices < most_slices && slices * rows < wanted_threads) slices *= 2;
  float* partial = call.workspace<float>();
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    sum_slices<T><<<wf::blocks(rows * slices, 64), 64, 0, call.stream()>>>(
        x.data<const T>(), partial, rows, columns, slices);
    sum_partials<U>
        <<<wf::blocks(rows, 64), 64, 0, call.stream()>>>(partial, y.data<U>(), rows, slices);
    return call.launched();
  });
}
