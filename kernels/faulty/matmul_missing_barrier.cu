// Matrix product: 16 x 16 tiles in shared memory, zero-padded at the edges.
// Planted fault: no barrier at the end of an iteration, so that the next tile is stored while other
// threads still multiply the last one.
#include "warpfuzz_kernel.hpp"

constexpr int tile = 16;

template <class T, class U>
__global__ void matmul(wf::View<const T, 2> a, wf::View<const T, 2> b, wf::View<U, 2> c,
                       int64_t tiles_across) {
  __shared__ float a_tile[tile][tile];
  __shared__ float b_tile[tile][tile];
  const int64_t m = c.extent[0], n = c.extent[1], k = a.extent[1];
  const int64_t row = blockIdx.x / tiles_across * tile + threadIdx.y;
  const int64_t column = blockIdx.x % tiles_across * tile + threadIdx.x;

  float acc = 0;
  for (int64_t start = 0; start < k; start += tile) {
    const int64_t a_column = start + threadIdx.x, b_row = start + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] = row < m && a_column < k ? wf::to_float(a(row, a_column)) : 0;
    b_tile[threadIdx.y][threadIdx.x] = b_row < k && column < n ? wf::to_float(b(b_row, column)) : 0;
    __syncthreads();
    const int depth = static_cast<int>(k - start < tile ? k - start : tile);
    for (int i = 0; i < depth; ++i) acc += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
  }
  if (row < m && column < n) c(row, column) = wf::from_float<U>(acc);
}

WARPFUZZ_KERNEL("") {
  const auto a = call.input(0), b = call.input(1), c = call.output(0);
  if (c.size() == 0) return WF_OK;
  const int64_t down = (c.extent(0) + tile - 1) / tile, across = (c.extent(1) + tile - 1) / tile;
  return wf::dispatch(a, c, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    matmul<T, U><<<wf::blocks(down * across, 1), dim3(tile, tile), 0, call.stream()>>>(
        a.view<const T, 2>(), b.view<const T, 2>(), c.view<U, 2>(), across);
    return call.launched();
  });
}
