// Embedding, y[i] = table[index[i]]: grid-stride loop over all elements, any strides.
#include "warpfuzz_kernel.hpp"

template <class I, class T>
__global__ void embedding(wf::View<const I, 1> index, wf::View<const T, 2> table,
                          wf::View<T, 2> y) {
  const int64_t columns = y.extent[1], size = y.extent[0] * columns;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
       i += step) {
    y(i / columns, i % columns) = table(index(i / columns), i % columns);
  }
}

WARPFUZZ_KERNEL("") {
  const auto index = call.input(0), table = call.input(1), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const auto launch = [&](auto i) {
    using I = decltype(i);
    return wf::dispatch(table, [&](auto t) {
      using T = decltype(t);
      embedding<I, T><<<wf::blocks(y.size(), 256, 1024), 256, 0, call.stream()>>>(
          index.view<const I, 1>(), table.view<const T, 2>(), y.view<T, 2>());
      return call.launched();
    });
  };
  if (index.is(kDLInt, 64)) return launch(int64_t{});
  if (index.is(kDLInt, 32)) return launch(int32_t{});
  return WF_UNSUPPORTED;
}
