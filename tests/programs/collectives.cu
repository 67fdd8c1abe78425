// Warp matrix functions and the collectives of CUB, against plain loops.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <type_traits>

#include "check.h"

using namespace nvcuda;
using Rows = wmma::row_major;
using Columns = wmma::col_major;

// c = 2 a b of one tile, `k` deep.
template <int M, int N, int K, class T, class S, class C, class LayoutA, class LayoutB>
__global__ void multiply(const S* a, const S* b, C* c, int lda, int ldb, int k) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, C> fc;
  wmma::fill_fragment(fc, C(0));
  for (int i = 0; i < k; i += K) {
    wmma::load_matrix_sync(fa, std::is_same<LayoutA, Rows>::value ? a + i : a + i * lda, lda);
    wmma::load_matrix_sync(fb, std::is_same<LayoutB, Rows>::value ? b + i * ldb : b + i, ldb);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fc.x[i] * C(2);
  wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}
// Small integers, so that every order of summation gives the same.
template <int M, int N, int K, class T, class S, class C, class LayoutA, class LayoutB>
void test_product() {
  constexpr int k = 4 * K;
  constexpr bool a_rows = std::is_same<LayoutA, Rows>::value;
  constexpr bool b_rows = std::is_same<LayoutB, Rows>::value;
  constexpr int low = std::is_same<S, unsigned char>::value ? 0 : -2;
  const auto of_a = [](int i, int j) { return (i * 7 + j * 3) % 5 + low; };
  const auto of_b = [](int i, int j) { return (i * 5 + j * 2) % 7 + low; };
  std::vector<S> a(M * k), b(k * N);
  for (int j = 0; j < k; ++j) {
    for (int i = 0; i < M; ++i) a[a_rows ? i * k + j : j * M + i] = S(of_a(i, j));
    for (int i = 0; i < N; ++i) b[b_rows ? j * N + i : i * k + j] = S(of_b(j, i));
  }
  const Buffer<C> c(M * N);
  multiply<M, N, K, T, S, C, LayoutA, LayoutB>
      <<<1, 32>>>(Buffer<S>(a), Buffer<S>(b), c, a_rows ? k : M, b_rows ? N : k, k);
  const std::vector<C> found = c.host();
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      int sum = 0;
      for (int q = 0; q < k; ++q) sum += of_a(i, q) * of_b(q, j);
      CHECK(double(found[i * N + j]) == 2 * sum);
    }
  }
}
void test_matrices() {
  test_product<16, 16, 16, __half, __half, float, Rows, Rows>();
  test_product<16, 16, 16, __half, __half, __half, Columns, Rows>();
  test_product<32, 8, 16, __half, __half, float, Columns, Columns>();
  test_product<8, 32, 16, __nv_bfloat16, __nv_bfloat16, float, Rows, Columns>();
  test_product<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float, Rows, Columns>();
  test_product<16, 16, 8, wmma::precision::tf32, float, float, Rows, Columns>();
  test_product<16, 16, 16, signed char, signed char, int, Rows, Columns>();
  test_product<16, 16, 16, unsigned char, unsigned char, int, Rows, Rows>();
  test_product<8, 8, 4, double, double, double, Rows, Columns>();
}

constexpr int threads = 96, items = 3, total = threads * items;
struct Largest {
  template <class T>
  __device__ T operator()(const T& a, const T& b) const {
    return b > a ? b : a;
  }
};
struct Running {
  int before;
  __device__ int operator()(int aggregate) {
    const int old = before;
    before += aggregate;
    return old;
  }
};
using Reduce = cub::BlockReduce<int, threads>;
using Scan = cub::BlockScan<int, threads>;
using Load = cub::BlockLoad<int, threads, items, cub::BLOCK_LOAD_TRANSPOSE>;
using Store = cub::BlockStore<int, threads, items>;
using Striped = cub::BlockStore<int, threads, items, cub::BLOCK_STORE_STRIPED>;
union Storage {
  typename Reduce::TempStorage reduce;
  typename Scan::TempStorage scan;
  typename Load::TempStorage load;
  typename Store::TempStorage store;
  typename Striped::TempStorage striped;
};
struct Results {
  int sum, largest, partial, aggregate;
  int exclusive[total], inclusive[threads], with_prefix[threads], guarded[total], striped[total];
  int warp_sum[threads], warp_scan[threads], before[threads], heads[threads], tails[threads];
};
__global__ void collectives(const int* in, Results* out) {
  __shared__ Storage storage;
  __shared__ typename cub::WarpReduce<int, 16>::TempStorage warp[threads / 16];
  __shared__ typename cub::WarpScan<int>::TempStorage warp_scan[threads / 32];
  const int t = threadIdx.x;
  int mine[items], result[items];
  Load(storage.load).Load(in, mine);
  __syncthreads();
  const int sum = Reduce(storage.reduce).Sum(mine);
  __syncthreads();
  const int largest = Reduce(storage.reduce).Reduce(mine[0], Largest());
  __syncthreads();
  const int partial = Reduce(storage.reduce).Sum(mine[0], 45);
  __syncthreads();
  int aggregate = 0;
  Scan(storage.scan).ExclusiveSum(mine, result, aggregate);
  __syncthreads();
  if (t == 0) {
    out->sum = sum;
    out->largest = largest;
    out->partial = partial;
    out->aggregate = aggregate;
  }
  Store(storage.store).Store(out->exclusive, result);
  __syncthreads();
  Striped(storage.striped).Store(out->striped, mine);
  __syncthreads();
  Scan(storage.scan).InclusiveScan(mine[0], out->inclusive[t], Largest());
  __syncthreads();
  Running running = {100};
  Scan(storage.scan).ExclusiveSum(mine[0], out->with_prefix[t], running);
  __syncthreads();
  Load(storage.load).Load(in, mine, 200, -7);
  __syncthreads();
  Store(storage.store).Store(out->guarded, mine, 250);
  out->warp_sum[t] = cub::WarpReduce<int, 16>(warp[t / 16]).Sum(in[t]);
  cub::WarpScan<int>(warp_scan[t / 32]).InclusiveSum(in[t], out->warp_scan[t]);
  int before = 77;
  cub::WarpScan<int>(warp_scan[t / 32]).ExclusiveScan(in[t], before, Largest());
  out->before[t] = before;
  // Segments of 5 lanes.
  using Segments = cub::WarpReduce<int, 16>;
  out->heads[t] = Segments(warp[t / 16]).HeadSegmentedSum(in[t], t % 16 % 5 == 0);
  out->tails[t] = Segments(warp[t / 16]).TailSegmentedReduce(in[t], t % 16 % 5 == 4, Largest());
}
void test_collectives(const std::vector<int>& in) {
  Results* out = nullptr;
  CHECK_CUDA(cudaMallocManaged(&out, sizeof *out));
  std::memset(out, 0, sizeof *out);
  collectives<<<1, threads>>>(Buffer<int>(in), out);
  CHECK_CUDA(cudaDeviceSynchronize());
  int sum = 0, largest = in[0], partial = 0, first_items = 100;
  for (int i = 0; i < total; ++i) {
    CHECK(out->exclusive[i] == sum);
    CHECK(out->guarded[i] == (i < 200 ? in[i] : i < 250 ? -7 : 0));
    CHECK(out->striped[i] == in[i % threads * items + i / threads]);
    sum += in[i];
  }
  for (int t = 0; t < threads; ++t) {
    const int first = in[t * items];
    largest = first > largest ? first : largest;
    if (t < 45) partial += first;
    CHECK(out->inclusive[t] == largest);
    CHECK(out->with_prefix[t] == first_items);
    first_items += first;
    int tile = 0, scan = 0;
    for (int j = t; j < t / 16 * 16 + 16; ++j) tile += in[j];
    for (int j = t / 32 * 32; j <= t; ++j) scan += in[j];
    CHECK(t % 16 != 0 || out->warp_sum[t] == tile);
    CHECK(out->warp_scan[t] == scan);
    int before = 77, segment = 0, most = in[t];
    for (int j = t / 32 * 32; j < t; ++j) before = j % 32 == 0 || in[j] > before ? in[j] : before;
    for (int j = t; j < threads && j / 16 == t / 16 && j % 16 / 5 == t % 16 / 5; ++j) {
      segment += in[j];
      most = in[j] > most ? in[j] : most;
    }
    CHECK(t % 32 == 0 || out->before[t] == before);
    CHECK(t % 16 % 5 != 0 || (out->heads[t] == segment && out->tails[t] == most));
  }
  CHECK(out->sum == sum && out->aggregate == sum && out->largest == largest &&
        out->partial == partial);
}

template <class Key>
__global__ void sort(Key* keys, int* values, bool descending) {
  using Sort = cub::BlockRadixSort<Key, threads, items, int>;
  __shared__ typename Sort::TempStorage storage;
  Key mine[items];
  int origin[items];
  for (int i = 0; i < items; ++i) {
    mine[i] = keys[threadIdx.x * items + i];
    origin[i] = threadIdx.x * items + i;
  }
  if (descending) {
    Sort(storage).SortDescendingBlockedToStriped(mine, origin);
  } else {
    Sort(storage).Sort(mine, origin);
  }
  for (int i = 0; i < items; ++i) {
    const int at = descending ? i * threads + threadIdx.x : threadIdx.x * items + i;
    keys[at] = mine[i];
    values[at] = origin[i];
  }
}
template <class Key>
void test_sort(const std::vector<int>& in) {
  std::vector<Key> keys;
  for (const int value : in) keys.push_back(static_cast<Key>(value) / 3);
  for (const bool descending : {false, true}) {
    const Buffer<Key> device(keys);
    const Buffer<int> origins(total);
    sort<Key><<<1, threads>>>(device, origins, descending);
    const std::vector<Key> sorted = device.host();
    const std::vector<int> origin = origins.host();
    for (int i = 0; i < total; ++i) {
      CHECK(sorted[i] == keys[origin[i]]);
      if (i == 0) continue;
      CHECK(descending ? sorted[i - 1] >= sorted[i] : sorted[i - 1] <= sorted[i]);
      CHECK(sorted[i - 1] != sorted[i] || origin[i - 1] < origin[i]);  // stable
    }
  }
}

int main() {
  test_matrices();
  std::vector<int> in(total);
  for (int i = 0; i < total; ++i) in[i] = i * 7919 % 613 - 300;
  test_collectives(in);
  test_sort<int>(in);
  test_sort<unsigned char>(in);
  test_sort<float>(in);
  test_sort<double>(in);
  std::printf("collectives: %d failed\n", failed_checks);
  return failed_checks;
}
