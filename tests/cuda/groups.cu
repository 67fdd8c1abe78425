// Cooperative groups, and the warp and atomic functions of half and bfloat16, in one block of 64
// threads. first_failure() is the text of the first row that does not hold, "" if all do.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <device_launch_parameters.h>

namespace cg = cooperative_groups;

struct Wide {
  double a, b, c;
};

constexpr int text_bytes = 200;
__device__ void note(char* failure, const char* text) {
  if (*failure != '\0') return;
  for (int i = 0; i < text_bytes - 1 && text[i] != '\0'; ++i) failure[i] = text[i];
}
#define HOLDS(condition) \
  if (!(condition)) note(failure, #condition);

__device__ unsigned sum_of_ranks(cg::thread_group group, unsigned* shared) {
  if (group.thread_rank() == 0) *shared = 0;
  group.sync();
  atomicAdd(shared, static_cast<unsigned>(group.thread_rank()));
  cg::sync(group);
  return *shared;
}

__global__ void groups(char* failure, const int* input) {
  __shared__ unsigned sums[5];
  __shared__ int copy[64];
  const cg::thread_block block = cg::this_thread_block();
  const unsigned t = threadIdx.x;
  HOLDS(block.thread_rank() == t && block.size() == 64 && block.group_index().x == 0)
  HOLDS(sum_of_ranks(block, &sums[4]) == 64 * 63 / 2)

  const auto tile = cg::tiled_partition<16>(block);
  HOLDS(tile.size() == 16 && tile.thread_rank() == t % 16 && tile.meta_group_rank() == t / 16)
  HOLDS(tile.meta_group_size() == 4)
  HOLDS(tile.shfl(t, 3) == t / 16 * 16 + 3 && tile.shfl_down(t, 1) == (t % 16 == 15 ? t : t + 1))
  HOLDS(tile.shfl_up(t, 2) == (t % 16 < 2 ? t : t - 2) && tile.shfl_xor(t, 5) == (t ^ 5))
  HOLDS(tile.ballot(t % 16 == 2) == 4u && tile.any(t % 16 == 1) && !tile.all(t % 16 == 1))
  HOLDS(tile.match_any(t % 2) == (t % 2 == 0 ? 0x5555u : 0xaaaau))
  HOLDS(cg::reduce(tile, 1, cg::plus<int>()) == 16)
  HOLDS(cg::reduce(tile, t, cg::greater<unsigned>()) == t / 16 * 16 + 15)
  HOLDS(cg::reduce(tile, t, cg::less<unsigned>()) == t / 16 * 16)
  HOLDS(cg::inclusive_scan(tile, 2) == 2 * (int(t) % 16 + 1))
  HOLDS(cg::exclusive_scan(tile, 1) == int(t) % 16)
  HOLDS(sum_of_ranks(tile, &sums[t / 16]) == 16 * 15 / 2)
  const Wide wide = tile.shfl(Wide{1.0 * t, 2.0 * t, 3.0 * t}, 1);
  HOLDS(wide.c == 3.0 * (t / 16 * 16 + 1) && wide.a == wide.c / 3)

  const auto quad = cg::tiled_partition<4>(tile);
  HOLDS(quad.thread_rank() == t % 4 && quad.shfl(t, 0) == t / 4 * 4)
  const cg::thread_group eight = cg::tiled_partition(block, 8);
  HOLDS(eight.size() == 8 && eight.thread_rank() == t % 8)
  block.sync();

  if (t % 3 == 0) {
    const cg::coalesced_group active = cg::coalesced_threads();
    const unsigned expected = t < 32 ? 11 : 11;
    HOLDS(active.size() == expected)
    HOLDS(cg::reduce(active, 1u, cg::plus<unsigned>()) == expected)
    HOLDS(active.shfl(t, 1) == (t < 32 ? 3 : 36) && active.ballot(1) == (1u << expected) - 1)
  }
  block.sync();
  const cg::coalesced_group same = cg::labeled_partition(cg::tiled_partition<32>(block), t % 4);
  HOLDS(same.size() == 8 && same.thread_rank() == t % 32 / 4)

  cg::memcpy_async(block, copy, input, sizeof copy);
  cg::wait(block);
  HOLDS(copy[63 - t] == input[63 - t])
  HOLDS(cg::this_grid().thread_rank() == t && cg::this_grid().size() == 64)
}

template <class T, class T2>
__global__ void small_floats(char* failure, T* sum, T2* pair) {
  const T lane(static_cast<float>(threadIdx.x));
  HOLDS(float(__shfl_down_sync(0xffffffffu, lane, 1)) == (threadIdx.x == 31 ? 31 : threadIdx.x + 1))
  HOLDS(float(__shfl_xor_sync(0xffffffffu, T2(lane, -lane), 1).y) == -float(threadIdx.x ^ 1))
  HOLDS(float(__shfl_sync(0xffffffffu, lane, 7)) == 7.0f)
  HOLDS(float(__shfl_up_sync(0xffffffffu, lane, 1)) == (threadIdx.x == 0 ? 0 : threadIdx.x - 1))
  atomicAdd(sum, T(1.0f));
  atomicAdd(pair, T2(T(1.0f), T(2.0f)));
  HOLDS(float(__ldg(sum)) >= 1.0f)
}

template <class T, class T2>
const char* check_small_floats(char* failure) {
  struct Sums {
    T one;
    T2 two;
  } sums = {T(0.0f), T2(T(0.0f), T(0.0f))};
  Sums* on_device = nullptr;
  cudaMalloc(&on_device, sizeof sums);
  cudaMemcpy(on_device, &sums, sizeof sums, cudaMemcpyHostToDevice);
  small_floats<<<1, 32>>>(failure, &on_device->one, &on_device->two);
  cudaMemcpy(&sums, on_device, sizeof sums, cudaMemcpyDeviceToHost);
  cudaFree(on_device);
  const bool right =
      float(sums.one) == 32.0f && float(sums.two.x) == 32.0f && float(sums.two.y) == 64.0f;
  return right ? "" : "atomicAdd of small floats";
}

extern "C" const char* first_failure() {
  static char text[text_bytes];
  char* failure = nullptr;
  int* input = nullptr;
  cudaMalloc(&failure, sizeof text);
  cudaMemset(failure, 0, sizeof text);
  cudaMalloc(&input, 64 * sizeof *input);
  cudaMemset(input, 5, 64 * sizeof *input);
  groups<<<1, 64>>>(failure, input);
  const char* sums = check_small_floats<__half, __half2>(failure);
  if (*sums == '\0') sums = check_small_floats<__nv_bfloat16, __nv_bfloat162>(failure);
  cudaMemcpy(text, failure, sizeof text, cudaMemcpyDeviceToHost);
  cudaFree(failure);
  cudaFree(input);
  if (cudaGetLastError() != cudaSuccess) return "a call failed";
  return text[0] != '\0' ? text : sums;
}
