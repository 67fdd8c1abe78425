// Rows scattered and added: atomics on float sums in the workspace, then a conversion.
// Planted fault: the sums start from what the workspace held.
#include "warpfuzz_kernel.hpp"

template <class I, class T>
__global__ void scatter(wf::View<const I, 1> index, wf::View<const T, 2> x, float* sums) {
  const int64_t columns = x.extent[1], size = x.extent[0] * columns;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
       i += step) {
    const int64_t row = i / columns, column = i % columns;
    atomicAdd(&sums[index(row) * columns + column], wf::to_float(x(row, column)));
  }
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

WARPFUZZ_KERNEL("") {
  const auto index = call.input(0), x = call.input(1), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  float* sums = call.workspace<float>();
  const auto launch = [&](auto i) {
    using I = decltype(i);
    return wf::dispatch(x, [&](auto t) {
      using T = decltype(t);
      if (x.size() > 0) {
        scatter<I, T><<<wf::blocks(x.size(), 256, 1024), 256, 0, call.stream()>>>(
            index.view<const I, 1>(), x.view<const T, 2>(), sums);
      }
      store<T><<<wf::blocks(y.size(), 256, 1024), 256, 0, call.stream()>>>(sums, y.view<T, 2>());
      return call.launched();
    });
  };
  if (index.is(kDLInt, 64)) return launch(int64_t{});
  if (index.is(kDLInt, 32)) return launch(int32_t{});
  return WF_UNSUPPORTED;
}
