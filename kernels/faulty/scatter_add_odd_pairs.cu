// Rows scattered and added, contiguous x: atomics on float sums in the workspace, a thread for two
// neighbouring columns, then a conversion.
// Planted fault: the last thread of a row with an odd number of columns adds two as well: the next
// row's first element to the next sum.
#include "warpfuzz_kernel.hpp"

template <class I, class T>
__global__ void scatter(const I* index, const T* x, float* sums, int64_t rows, int64_t columns) {
  const int64_t pairs = (columns + 1) / 2;
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= rows * pairs) return;
  const int64_t row = i / pairs, column = 2 * (i % pairs);
  const T* in = x + row * columns + column;
  float* out = sums + index[row] * columns + column;
  atomicAdd(&out[0], wf::to_float(in[0]));
  atomicAdd(&out[1], wf::to_float(in[1]));
}

template <class T>
__global__ void store(const float* sums, wf::View<T, 2> y) {
  const int64_t columns = y.extent[1], size = y.extent[0] * columns;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
       i += step) {
    y(i / columns, i % columns) = wf::from_float<T>(sums[i]);
  }
}

WARPFUZZ_WORKSPACE() { return sizeof(float) * static_cast<uint64_t>(call.output(0).size()); }

WARPFUZZ_KERNEL("index_contiguous && x_contiguous") {
  const auto index = call.input(0), x = call.input(1), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  float* sums = call.workspace<float>();
  cudaMemsetAsync(sums, 0, sizeof(float) * y.size(), call.stream());
  const auto launch = [&](auto i) {
    using I = decltype(i);
    return wf::dispatch(x, [&](auto t) {
      using T = decltype(t);
      if (x.size() > 0) {
        const int64_t rows = x.extent(0), columns = x.extent(1);
        scatter<I, T><<<wf::blocks(rows * ((columns + 1) / 2), 256), 256, 0, call.stream()>>>(
            index.data<const I>(), x.data<const T>(), sums, rows, columns);
      }
      store<T><<<wf::blocks(y.size(), 256, 1024), 256, 0, call.stream()>>>(sums, y.view<T, 2>());
      return call.launched();
    });
  };
  if (index.is(kDLInt, 64)) return launch(int64_t{});
  if (index.is(kDLInt, 32)) return launch(int32_t{});
  return WF_UNSUPPORTED;
}
