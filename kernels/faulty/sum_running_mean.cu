// Sum over the last axis, one thread per row, as a running mean times the number of elements: it
// cannot overflow where the sum does not.
// Planted fault: each step divides and rounds, so that the sum of a few small integers is not exact
// and depends on their order, which a sum in float32 is not.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void sum(wf::View<const T, 2> x, wf::View<U, 1> y) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= x.extent[0]) return;
  float mean = 0;
  for (int64_t j = 0; j < x.extent[1]; ++j) {
    const float share = 1.0f / static_cast<float>(j + 1);
    mean = mean * (1 - share) + wf::to_float(x(row, j)) * share;
  }
  y(row) = wf::from_float<U>(mean * static_cast<float>(x.extent[1]));
}

WARPFUZZ_KERNEL("") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    sum<T, U><<<wf::blocks(x.extent(0), 64), 64, 0, call.stream()>>>(x.view<const T, 2>(),
                                                                     y.view<U, 1>());
    return call.launched();
  });
}
