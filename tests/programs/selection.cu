// Device-wide scan with decoupled look-back, top-k per row, histogram, compaction of a stream, and
// a tiled matrix product with a guarded tail in K.
#include <cub/block/block_scan.cuh>

#include "check.h"

// Inclusive prefix sum in one pass: a block publishes its total, then its prefix, and looks back
// over the blocks before it until it finds a prefix (Merrill and Garland 2016).
constexpr int scan_threads = 64, scan_items = 4, scan_tile = scan_threads * scan_items;
struct Status {
  unsigned flag;  // 0: nothing, 1: total of the tile, 2: prefix with everything before
  int value;
};
__global__ void scan(const int* in, int* out, unsigned long long* status, unsigned* next_tile,
                     int n) {
  using Scan = cub::BlockScan<int, scan_threads>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ int tile, before;
  if (threadIdx.x == 0) tile = atomicAdd(next_tile, 1u);
  __syncthreads();
  const int first = tile * scan_tile + threadIdx.x * scan_items;
  int items[scan_items], total = 0;
  for (int i = 0; i < scan_items; ++i) items[i] = first + i < n ? in[first + i] : 0;
  Scan(storage).InclusiveSum(items, items, total);
  const auto publish = [&](unsigned flag, int value) {
    atomicExch(&status[tile], static_cast<unsigned long long>(flag) << 32 | unsigned(value));
  };
  if (threadIdx.x == 0) {
    publish(tile == 0 ? 2 : 1, total);
    int sum = 0;
    for (int other = tile - 1; other >= 0;) {
      const unsigned long long seen = atomicAdd(&status[other], 0ull);
      const unsigned flag = unsigned(seen >> 32);
      if (flag == 0) {
        __threadfence();
        continue;
      }
      sum += int(unsigned(seen));
      if (flag == 2) break;
      --other;
    }
    if (tile != 0) publish(2, sum + total);
    before = sum;
  }
  __syncthreads();
  for (int i = 0; i < scan_items; ++i) {
    if (first + i < n) out[first + i] = before + items[i];
  }
}
void test_scan(int n) {
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i) in[i] = i * 7919 % 1000 - 400;
  const int tiles = (n + scan_tile - 1) / scan_tile;
  const Buffer<unsigned long long> status(std::vector<unsigned long long>(tiles, 0));
  const Buffer<unsigned> next(std::vector<unsigned>(1, 0));
  const Buffer<int> out(n);
  scan<<<tiles, scan_threads>>>(Buffer<int>(in), out, status, next, n);
  const std::vector<int> found = out.host();
  int sum = 0;
  for (int i = 0; i < n; ++i) CHECK(found[i] == (sum += in[i]));
}

// The k largest of a row and where they are, larger first, lower index first among equals: k rounds
// of a block-wide maximum over (value, index).
__global__ void top_k(const float* in, float* values, int* indices, int columns, int k) {
  extern __shared__ float row[];
  __shared__ float best_value[4];
  __shared__ int best_index[4];
  for (int i = threadIdx.x; i < columns; i += blockDim.x) row[i] = in[blockIdx.x * columns + i];
  __syncthreads();
  for (int round = 0; round < k; ++round) {
    float value = -INFINITY;
    int index = columns;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
      if (row[i] > value) {
        value = row[i];
        index = i;
      }
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      const float other = __shfl_xor_sync(0xffffffffu, value, offset);
      const int other_index = __shfl_xor_sync(0xffffffffu, index, offset);
      if (other > value || (other == value && other_index < index)) {
        value = other;
        index = other_index;
      }
    }
    if (threadIdx.x % 32 == 0) {
      best_value[threadIdx.x / 32] = value;
      best_index[threadIdx.x / 32] = index;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int best = 0;
      for (int i = 1; i < blockDim.x / 32; ++i) {
        const bool better = best_value[i] > best_value[best] ||
                            (best_value[i] == best_value[best] && best_index[i] < best_index[best]);
        if (better) best = i;
      }
      values[blockIdx.x * k + round] = best_value[best];
      indices[blockIdx.x * k + round] = best_index[best];
      row[best_index[best]] = -INFINITY;
    }
    __syncthreads();
  }
}
void test_top_k(int rows, int columns, int k) {
  std::vector<float> in = Numbers(columns).vector(size_t(rows) * columns);
  for (size_t i = 0; i < in.size(); i += 3) in[i] = std::floor(in[i] * 4) / 4;  // equal ones
  const Buffer<float> values(rows * k);
  const Buffer<int> indices(rows * k);
  top_k<<<rows, 128, columns * sizeof(float)>>>(Buffer<float>(in), values, indices, columns, k);
  const std::vector<float> found = values.host();
  const std::vector<int> at = indices.host();
  for (int row = 0; row < rows; ++row) {
    std::vector<float> left(in.begin() + row * columns, in.begin() + (row + 1) * columns);
    for (int round = 0; round < k; ++round) {
      int best = 0;
      for (int i = 1; i < columns; ++i) best = left[i] > left[best] ? i : best;
      CHECK(at[row * k + round] == best && found[row * k + round] == left[best]);
      left[best] = -INFINITY;
    }
  }
}

// Counts in shared memory, then adds them; and keeps the positive elements, in order, per block.
__global__ void histogram(const int* in, int* counts, int n) {
  __shared__ int local[32];
  if (threadIdx.x < 32) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[in[i] & 31], 1);
  }
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}
__global__ void keep_positive(const int* in, int* out, int* kept, int n) {
  __shared__ int warp_count[4];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32;
  const bool keep = i < n && in[i] > 0;
  const unsigned votes = __ballot_sync(0xffffffffu, keep);
  if (threadIdx.x % 32 == 0) warp_count[warp] = __popc(votes);
  __syncthreads();
  int position = __popc(votes & ((1u << threadIdx.x % 32) - 1));
  for (int w = 0; w < warp; ++w) position += warp_count[w];
  if (keep) out[blockIdx.x * blockDim.x + position] = in[i];
  if (threadIdx.x == 0) {
    kept[blockIdx.x] = warp_count[0] + warp_count[1] + warp_count[2] + warp_count[3];
  }
}
void test_histogram(int n) {
  std::vector<int> in(n), want(32, 0);
  for (int i = 0; i < n; ++i) ++want[(in[i] = i * 7919 % 1009 - 300) & 31];
  const int blocks = (n + 127) / 128;
  const Buffer<int> device(in), counts(std::vector<int>(32, 0)), out(blocks * 128), kept(blocks);
  histogram<<<3, 64>>>(device, counts, n);
  CHECK(counts.host() == want);
  keep_positive<<<blocks, 128>>>(device, out, kept, n);
  const std::vector<int> found = out.host(), count = kept.host();
  for (int block = 0; block < blocks; ++block) {
    int position = 0;
    for (int i = block * 128; i < n && i < (block + 1) * 128; ++i) {
      if (in[i] > 0) CHECK(found[block * 128 + position++] == in[i]);
    }
    CHECK(position == count[block]);
  }
}

template <int Tile>
__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float ta[Tile][Tile], tb[Tile][Tile];
  const int row = blockIdx.y * Tile + threadIdx.y, column = blockIdx.x * Tile + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < k; first += Tile) {
    const int ka = first + threadIdx.x, kb = first + threadIdx.y;
    ta[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0;
    tb[threadIdx.y][threadIdx.x] = kb < k && column < n ? b[kb * n + column] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Tile; ++i) sum = fmaf(ta[threadIdx.y][i], tb[i][threadIdx.x], sum);
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
template <int Tile>
void test_matmul(int m, int n, int k) {
  Numbers numbers(k);
  const std::vector<float> a = numbers.vector(m * k), b = numbers.vector(k * n);
  const Buffer<float> c(m * n);
  const dim3 grid((n + Tile - 1) / Tile, (m + Tile - 1) / Tile);
  matmul<Tile><<<grid, dim3(Tile, Tile)>>>(Buffer<float>(a), Buffer<float>(b), c, m, n, k);
  std::vector<double> expected(m * n);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int q = 0; q < k; ++q) expected[i * n + j] += double(a[i * k + q]) * b[q * n + j];
    }
  }
  CHECK(close_to(c.host(), expected, 1e-5));
}

int main() {
  test_scan(1);
  test_scan(2000);
  test_top_k(5, 100, 7);
  test_top_k(2, 300, 3);
  test_histogram(1000);
  test_matmul<16>(17, 33, 50);
  test_matmul<8>(9, 7, 13);
  std::printf("selection: %d failed\n", failed_checks);
  return failed_checks;
}
