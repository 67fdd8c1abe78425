// What threads do together: warp functions, cooperative groups, barriers with predicates, grid
// barriers, atomics of every type and scope. Expected values are computed lane by lane on the host.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cuda/atomic>

#include "check.h"

namespace cg = cooperative_groups;
constexpr unsigned every_lane = 0xffffffffu;

// One row of 32 results per function.
constexpr int rows = 24;
__global__ void warp_functions(const int* in, unsigned (*out)[32]) {
  const unsigned lane = threadIdx.x;
  const int v = in[lane];
  int row = 0, predicate = 0;
  const auto put = [&](unsigned value) { out[row++][lane] = value; };
  put(__shfl_sync(every_lane, v, 5));
  put(__shfl_sync(every_lane, v, lane + 3, 8));
  put(__shfl_up_sync(every_lane, v, 2));
  put(__shfl_down_sync(every_lane, v, 3, 16));
  put(__shfl_xor_sync(every_lane, v, 9));
  put(__ballot_sync(every_lane, v > 0));
  put(__any_sync(every_lane, v > 90));
  put(__all_sync(every_lane, v > -200));
  put(__match_any_sync(every_lane, v & 3));
  put(__match_all_sync(every_lane, v & 0, &predicate));
  put(predicate);
  put(__reduce_add_sync(every_lane, v));
  put(__reduce_min_sync(every_lane, v));
  put(__reduce_max_sync(every_lane, v));
  put(__reduce_min_sync(every_lane, unsigned(v)));
  put(__reduce_and_sync(every_lane, unsigned(v) | 16u));
  put(__reduce_or_sync(every_lane, unsigned(v) & 40u));
  put(__reduce_xor_sync(every_lane, unsigned(v)));
  const unsigned half = lane < 16 ? 0xffffu : 0xffff0000u;
  put(__reduce_add_sync(half, v));
  put(unsigned(__shfl_xor_sync(every_lane, (long long)v << 33, 1) >> 33));
  put(unsigned(__shfl_down_sync(every_lane, double(v), 1)));
  put(__float2int_rn(__half2float(__shfl_sync(every_lane, __int2half_rn(v), 31 - lane))));
  unsigned odd = 0;
  if (lane % 2 == 1) odd = __ballot_sync(0xaaaaaaaau, v > 0);
  put(odd);
  put(__activemask());
}
void test_warp_functions() {
  int v[32];
  std::vector<int> in(32);
  for (int i = 0; i < 32; ++i) in[i] = v[i] = (i * 37 + 11) % 101 - 50;
  unsigned(*out)[32] = nullptr;
  CHECK_CUDA(cudaMallocManaged(&out, rows * sizeof *out));
  warp_functions<<<1, 32>>>(Buffer<int>(in), out);
  CHECK_CUDA(cudaDeviceSynchronize());
  unsigned positive = 0, match[4] = {}, and_all = ~0u, or_all = 0, xor_all = 0, least = ~0u;
  int sum = 0, low = 1000, high = -1000, half_sum[2] = {};
  for (int i = 0; i < 32; ++i) {
    positive |= unsigned(v[i] > 0) << i;
    match[v[i] & 3] |= 1u << i;
    and_all &= unsigned(v[i]) | 16u;
    or_all |= unsigned(v[i]) & 40u;
    xor_all ^= unsigned(v[i]);
    least = unsigned(v[i]) < least ? unsigned(v[i]) : least;
    low = v[i] < low ? v[i] : low;
    high = v[i] > high ? v[i] : high;
    sum += v[i];
    half_sum[i / 16] += v[i];
  }
  for (int i = 0; i < 32; ++i) {
    const unsigned expected[rows] = {unsigned(v[5]),
                                     unsigned(v[i / 8 * 8 + (i + 3) % 8]),
                                     unsigned(v[i < 2 ? i : i - 2]),
                                     unsigned(v[i % 16 + 3 < 16 ? i + 3 : i]),
                                     unsigned(v[i ^ 9]),
                                     positive,
                                     unsigned(high > 90),
                                     1,
                                     match[v[i] & 3],
                                     every_lane,
                                     1,
                                     unsigned(sum),
                                     unsigned(low),
                                     unsigned(high),
                                     least,
                                     and_all,
                                     or_all,
                                     xor_all,
                                     unsigned(half_sum[i / 16]),
                                     unsigned(v[i ^ 1]),
                                     unsigned(double(v[i < 31 ? i + 1 : i])),
                                     unsigned(v[31 - i]),
                                     i % 2 == 1 ? positive & 0xaaaaaaaau : 0,
                                     every_lane};
    for (int row = 0; row < rows; ++row) {
      if (row == 20 && v[i < 31 ? i + 1 : i] < 0) continue;  // a negative number as unsigned
      if (out[row][i] != expected[row]) std::printf("row %d, lane %d: ", row, i);
      CHECK(out[row][i] == expected[row]);
    }
  }
}

__global__ void barriers(int* out) {
  const int t = threadIdx.x;
  const int count = __syncthreads_count(t % 3 == 0);
  const int both = __syncthreads_and(t < 100) + 2 * __syncthreads_or(t == 50);
  out[t] = 10 * count + both;
}

__global__ void groups(const int* in, int* out) {
  __shared__ int copy[96];
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const auto quarter = cg::tiled_partition<8>(warp);
  cg::memcpy_async(block, copy, in, sizeof copy);
  cg::wait(block);
  const int v = copy[block.thread_rank()];
  int result = cg::reduce(quarter, v, cg::plus<int>());
  result += 1000 * int(cg::exclusive_scan(quarter, 1));
  if (v % 2 == 0) {
    const cg::coalesced_group even = cg::coalesced_threads();
    result += 10000 * int(even.size()) + 1000000 * int(even.thread_rank() == 0);
  }
  result += 100000000 * cg::invoke_one_broadcast(quarter, [&] { return int(threadIdx.x / 8 % 2); });
  result += int(cg::this_thread().size()) + int(cg::this_thread().thread_rank()) - 1;
  const cg::thread_group dynamic = cg::tiled_partition(cg::this_thread_block(), 4);
  result += 10000000 * int(dynamic.thread_rank());
  out[block.thread_rank()] = result;
}
void test_groups() {
  std::vector<int> in(96);
  for (int i = 0; i < 96; ++i) in[i] = i * 5 % 13;
  const Buffer<int> device_in(in), out(96), counts(100);
  barriers<<<1, 100>>>(counts);
  for (const int count : counts.host()) CHECK(count == 10 * 34 + 3);
  groups<<<1, 96>>>(device_in, out);
  const std::vector<int> found = out.host();
  for (int i = 0; i < 96; ++i) {
    int expected = 1000 * (i % 8) + 10000000 * (i % 4) + 100000000 * (i / 8 % 2);
    for (int j = 0; j < 8; ++j) expected += in[i / 8 * 8 + j];
    int even = 0, before = 0;
    for (int j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) {
      even += in[j] % 2 == 0;
      before += j < i && in[j] % 2 == 0;
    }
    if (in[i] % 2 == 0) expected += 10000 * even + (before == 0 ? 1000000 : 0);
    CHECK(found[i] == expected);
  }
}

__global__ void grid_sum(const int* in, int* partial, int* out) {
  const cg::grid_group grid = cg::this_grid();
  atomicAdd(&partial[blockIdx.x], in[grid.thread_rank()]);
  grid.sync();
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];
  out[grid.thread_rank()] = sum;
}
void test_grid() {
  const Buffer<int> in(std::vector<int>(256, 3)), partial(std::vector<int>(4, 0)), out(256);
  const int* a = in;
  int *b = partial, *c = out;
  void* arguments[] = {&a, &b, &c};
  CHECK_CUDA(
      cudaLaunchCooperativeKernel((void*)grid_sum, dim3(4), dim3(64), arguments, 0, nullptr));
  for (const int sum : out.host()) CHECK(sum == 768);
}

struct Sums {
  int i, least, most, exchanged, wrapped, unwrapped, swapped, sub;
  unsigned u, bits_or, bits_and, bits_xor;
  unsigned long long ull, ull_most, guarded;
  long long ll_least;
  float f;
  double d;
  unsigned short locked;
  __half half;
  __nv_bfloat16 bfloat;
  __half2 pair;
  __nv_bfloat162 bfloat_pair;
  float4 vector;
  cuda::atomic<int, cuda::thread_scope_device> standard;
};
__global__ void atomics(Sums* s, int* order) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  order[i] = atomicAdd(&s->i, 1);
  atomicAdd_block(&s->u, unsigned(i) - unsigned(i) + 2u);
  atomicSub(&s->sub, 1);
  atomicMin(&s->least, -i);
  atomicMax_system(&s->most, i);
  atomicExch(&s->exchanged, 9);
  atomicInc(reinterpret_cast<unsigned*>(&s->wrapped), 6);
  atomicDec(reinterpret_cast<unsigned*>(&s->unwrapped), 6);
  atomicOr(&s->bits_or, 1u << i % 32);
  atomicAnd(&s->bits_and, ~(1u << i % 8));
  atomicXor(&s->bits_xor, 1u << i % 32);
  atomicAdd(&s->ull, 1ull << 33);
  atomicMax(&s->ull_most, 1ull << i % 60);
  atomicMin(&s->ll_least, -(1ll << i % 60));
  atomicAdd(&s->f, 0.5f);
  atomicAdd(&s->d, 0.25);
  atomicAdd(&s->half, __float2half(1.0f));
  atomicAdd(&s->bfloat, __float2bfloat16(1.0f));
  atomicAdd(&s->pair, __floats2half2_rn(1.0f, 2.0f));
  atomicAdd(&s->bfloat_pair, __floats2bfloat162_rn(1.0f, 0.5f));
  atomicAdd(&s->vector, make_float4(1, 2, 3, 4));
  s->standard.fetch_add(2, cuda::std::memory_order_relaxed);
  int old = s->swapped, seen = 0;
  do {
    seen = old;
    old = atomicCAS(&s->swapped, seen, seen + 3);
  } while (old != seen);
  // A lock of 16 bits around a plain addition.
  for (bool done = false; !done;) {
    if (atomicCAS(&s->locked, (unsigned short)0, (unsigned short)1) == 0) {
      __threadfence();
      s->guarded += 3;
      __threadfence();
      atomicCAS(&s->locked, (unsigned short)1, (unsigned short)0);
      done = true;
    }
  }
}
void test_atomics() {
  constexpr int n = 128;
  Sums* s = nullptr;
  CHECK_CUDA(cudaMallocManaged(&s, sizeof *s));
  std::memset(static_cast<void*>(s), 0, sizeof *s);
  s->bits_and = 0xffff;
  const Buffer<int> order(n);
  atomics<<<2, n / 2>>>(s, order);
  CHECK_CUDA(cudaDeviceSynchronize());
  std::vector<bool> seen(n);
  for (const int position : order.host()) seen[position] = true;
  for (int i = 0; i < n; ++i) CHECK(seen[i]);
  CHECK(s->i == n && s->u == 2 * n && s->sub == -n && s->least == 1 - n && s->most == n - 1);
  CHECK(s->exchanged == 9 && s->wrapped == n % 7 && s->unwrapped == (7 - n % 7) % 7);
  CHECK(s->bits_or == every_lane && s->bits_and == 0xff00 && s->bits_xor == 0);
  CHECK(s->ull == (1ull << 33) * n && s->ull_most == 1ull << 59 && s->guarded == 3ull * n &&
        s->ll_least == -(1ll << 59));
  CHECK(s->f == n / 2 && s->d == n / 4 && s->swapped == 3 * n && s->locked == 0);
  CHECK(__half2float(s->half) == n && __bfloat162float(s->bfloat) == n);
  CHECK(__high2float(s->pair) == 2 * n && __low2float(s->bfloat_pair) == n);
  CHECK(s->vector.x == n && s->vector.w == 4 * n && s->standard.load() == 2 * n);
}

int main() {
  test_warp_functions();
  test_groups();
  test_grid();
  test_atomics();
  std::printf("threads: %d failed\n", failed_checks);
  return failed_checks;
}
