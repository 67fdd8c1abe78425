// Sum over the last axis, one thread per row, four elements at a time where rows start on multiples
// of four; the last row, behind which nothing is known, ends one by one. Planted fault: the padding
// that the last four elements of a row reach into is added as well.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void sum_packs(const T* x, U* y, int64_t rows, int64_t columns, int64_t stride) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = x + row * stride;
  const int64_t packs = row + 1 < rows ? (columns + 3) / 4 : columns / 4;
  float sum = 0;
  for (int64_t p = 0; p < packs; ++p) {
    const auto pack = reinterpret_cast<const wf::Pack<T, 4>*>(in)[p];
    for (int e = 0; e < 4; ++e) sum += wf::to_float(pack.values[e]);
  }
  for (int64_t j = 4 * packs; j < columns; ++j) sum += wf::to_float(in[j]);
  y[row] = wf::from_float<U>(sum);
}

template <class T, class U>
__global__ void sum_elements(wf::View<const T, 2> x, U* y) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= x.extent[0]) return;
  float sum = 0;
  for (int64_t j = 0; j < x.extent[1]; ++j) sum += wf::to_float(x(row, j));
  y[row] = wf::from_float<U>(sum);
}

WARPFUZZ_KERNEL("y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    const int64_t rows = x.extent(0), columns = x.extent(1);
    const bool packed = x.stride(1) == 1 && x.stride(0) % 4 == 0 && x.stride(0) >= columns &&
                        x.aligned(4 * sizeof(T));
    if (packed) {
      sum_packs<T, U><<<wf::blocks(rows, 64), 64, 0, call.stream()>>>(
          x.data<const T>(), y.data<U>(), rows, columns, x.stride(0));
    } else {
      sum_elements<T, U>
          <<<wf::blocks(rows, 64), 64, 0, call.stream()>>>(x.view<const T, 2>(), y.data<U>());
    }
    return call.launched();
  });
}
