// Embedding, y[i] = table[index[i]], contiguous tensors.
// Planted fault: the elements pass through float arithmetic that flushes subnormals.
#include "warpfuzz_kernel.hpp"

template <class I, class T>
__global__ void embedding(const I* index, const T* table, T* y, int64_t size, int64_t columns) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
       i += step) {
    const float value = wf::to_float(table[index[i / columns] * columns + i % columns]);
    y[i] = wf::from_float<T>(fabsf(value) < 0x1p-126f ? 0.0f : value);
  }
}

WARPFUZZ_KERNEL("index_contiguous && table_contiguous && y_contiguous") {
  const auto index = call.input(0), table = call.input(1), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const auto launch = [&](auto i) {
    using I = decltype(i);
    return wf::dispatch(table, [&](auto t) {
      using T = decltype(t);
      embedding<I, T><<<wf::blocks(y.size(), 256, 1024), 256, 0, call.stream()>>>(
          index.data<const I>(), table.data<const T>(), y.data<T>(), y.size(), y.extent(1));
      return call.launched();
    });
  };
  if (index.is(kDLInt, 64)) return launch(int64_t{});
  if (index.is(kDLInt, 32)) return launch(int32_t{});
  return WF_UNSUPPORTED;
}
