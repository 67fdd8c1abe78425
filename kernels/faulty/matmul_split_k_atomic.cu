// Matrix product into float32, split along k: the blocks of all parts add to c.
// Planted fault: they add with an atomic in the order in which they arrive, so the bits differ from
// run to run.
#include "warpfuzz_kernel.hpp"

constexpr int64_t depth = 8;  // of one part

__global__ void clear(wf::View<float, 2> c) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < c.extent[0] * c.extent[1]) c(i / c.extent[1], i % c.extent[1]) = 0;
}

template <class T>
__global__ void add_products(wf::View<const T, 2> a, wf::View<const T, 2> b, wf::View<float, 2> c,
                             int64_t parts) {
  const int64_t m = a.extent[0], n = b.extent[1], k = a.extent[1];
  const int64_t i = static_cast<int64_t>(blockIdx.x / parts) * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  const int64_t row = i / n, column = i % n;
  const int64_t begin = blockIdx.x % parts * depth;
  const int64_t end = begin + depth < k ? begin + depth : k;
  float acc = 0;
  for (int64_t p = begin; p < end; ++p) acc += wf::to_float(a(row, p)) * wf::to_float(b(p, column));
  atomicAdd(&c(row, column), acc);
}

WARPFUZZ_KERNEL("U == float32") {
  const auto a = call.input(0), b = call.input(1), c = call.output(0);
  if (c.size() == 0) return WF_OK;
  const auto sums = c.view<float, 2>();
  const int64_t parts = (a.extent(1) + depth - 1) / depth;
  clear<<<wf::blocks(c.size(), 128), 128, 0, call.stream()>>>(sums);
  if (parts == 0) return call.launched();
  return wf::dispatch(a, [&](auto t) {
    using T = decltype(t);
    const unsigned tiles = wf::blocks(c.size(), 128);
    add_products<T><<<tiles* static_cast<unsigned>(parts), 128, 0, call.stream()>>>(
        a.view<const T, 2>(), b.view<const T, 2>(), sums, parts);
    return call.launched();
  });
}
