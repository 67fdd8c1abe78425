// Matrix product, split along k: partial products into the workspace, then summed in a fixed order.
#include "warpfuzz_kernel.hpp"

constexpr int64_t max_splits = 8;
constexpr int64_t min_depth = 32;  // a split shorter than this is not worth its traffic

// Depends on k alone, so that a row of c does not depend on the size of the batch.
static int64_t splits(int64_t k) {
  const int64_t wanted = (k + min_depth - 1) / min_depth;
  return wanted < 1 ? 1 : wanted < max_splits ? wanted : max_splits;
}

template <class T>
__global__ void partial_products(wf::View<const T, 2> a, wf::View<const T, 2> b, float* partial,
                                 int64_t parts) {
  const int64_t m = a.extent[0], n = b.extent[1], k = a.extent[1];
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= parts * m * n) return;
  const int64_t part = i / (m * n), row = i / n % m, column = i % n;
  const int64_t depth = (k + parts - 1) / parts;
  const int64_t begin = part * depth;
  const int64_t end = begin + depth < k ? begin + depth : k;
  float acc = 0;
  for (int64_t p = begin; p < end; ++p) acc += wf::to_float(a(row, p)) * wf::to_float(b(p, column));
  partial[i] = acc;
}

template <class U>
__global__ void sum_parts(const float* partial, wf::View<U, 2> c, int64_t parts) {
  const int64_t size = c.extent[0] * c.extent[1];
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= size) return;
  float acc = 0;
  for (int64_t part = 0; part < parts; ++part) acc += partial[part * size + i];
  c(i / c.extent[1], i % c.extent[1]) = wf::from_float<U>(acc);
}

WARPFUZZ_WORKSPACE() {
  return sizeof(float) *
         static_cast<uint64_t>(splits(call.input(0).extent(1)) * call.output(0).size());
}

WARPFUZZ_KERNEL("") {
  const auto a = call.input(0), b = call.input(1), c = call.output(0);
  if (c.size() == 0) return WF_OK;
  const int64_t parts = splits(a.extent(1));
  float* partial = call.workspace<float>();
  return wf::dispatch(a, c, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    partial_products<T><<<wf::blocks(parts * c.size(), 128), 128, 0, call.stream()>>>(
        a.view<const T, 2>(), b.view<const T, 2>(), partial, parts);
    sum_parts<U>
        <<<wf::blocks(c.size(), 128), 128, 0, call.stream()>>>(partial, c.view<U, 2>(), parts);
    return call.launched();
  });
}
