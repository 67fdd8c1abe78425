// Matrix product: 16 x 16 tiles in shared memory, zero-padded at the edges, any strides. Products
// so thin that a tile would be mostly padding take one thread per element.
#include "warpfuzz_kernel.hpp"

constexpr int tile = 16;

template <class T, class U>
__global__ void matmul_tiled(wf::View<const T, 2> a, wf::View<const T, 2> b, wf::View<U, 2> c,
                             int64_t tiles_across) {
  __shared__ float a_tile[tile][tile];
  __shared__ float b_tile[tile][tile + 1];
  const int64_t m = c.extent[0], n = c.extent[1], k = a.extent[1];
  // Tiles are numbered along x alone: the y extent of a grid ends at 65,535.
  const int64_t row = blockIdx.x / tiles_across * tile + threadIdx.y;
  const int64_t column = blockIdx.x % tiles_across * tile + threadIdx.x;

  float acc = 0;
  for (int64_t start = 0; start < k; start += tile) {
    const int64_t a_column = start + threadIdx.x, b_row = start + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] = row < m && a_column < k ? wf::to_float(a(row, a_column)) : 0;
    b_tile[threadIdx.y][threadIdx.x] = b_row < k && column < n ? wf::to_float(b(b_row, column)) : 0;
    __syncthreads();
    // The padding must not meet an infinity of the other operand: 0 * inf is NaN.
    const int depth = static_cast<int>(k - start < tile ? k - start : tile);
    for (int i = 0; i < depth; ++i) acc += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c(row, column) = wf::from_float<U>(acc);
}

template <class T, class U>
__global__ void matmul_thin(wf::View<const T, 2> a, wf::View<const T, 2> b, wf::View<U, 2> c) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= c.extent[0] * c.extent[1]) return;
  const int64_t row = i / c.extent[1], column = i % c.extent[1];
  float acc = 0;
  for (int64_t p = 0; p < a.extent[1]; ++p) {
    acc += wf::to_float(a(row, p)) * wf::to_float(b(p, column));
  }
  c(row, column) = wf::from_float<U>(acc);
}

WARPFUZZ_KERNEL("") {
  const auto a = call.input(0), b = call.input(1), c = call.output(0);
  if (c.size() == 0) return WF_OK;
  const int64_t down = (c.extent(0) + tile - 1) / tile, across = (c.extent(1) + tile - 1) / tile;
  return wf::dispatch(a, c, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    if (c.extent(0) < tile / 2 || c.extent(1) < tile / 2) {
      matmul_thin<T, U><<<wf::blocks(c.size(), 128), 128, 0, call.stream()>>>(
          a.view<const T, 2>(), b.view<const T, 2>(), c.view<U, 2>());
      return call.launched();
    }
    matmul_tiled<T, U><<<wf::blocks(down * across, 1), dim3(tile, tile), 0, call.stream()>>>(
        a.view<const T, 2>(), b.view<const T, 2>(), c.view<U, 2>(), across);
    return call.launched();
  });
}
