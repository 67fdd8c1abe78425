// Blocks and warps that wait for one another in loops: a scan that looks back over the blocks
// before its own, sums in the order of a semaphore, a barrier over the grid made by hand, flags of
// every kind. All blocks of each launch are resident at once on any GPU, as such kernels need.
#include <cuda/atomic>

#include "check.h"

constexpr int block = 128, items = 4, tile = block * items;
enum Status : unsigned { nothing, aggregate, prefix };
__device__ unsigned next_tile;

__device__ void publish(unsigned long long* state, Status status, int value) {
  atomicExch(state, static_cast<unsigned long long>(static_cast<unsigned>(value)) << 32 | status);
}
// Of all tiles before this one, whose own sum is `total`.
__device__ int look_back(unsigned long long* states, int id, int total) {
  publish(&states[id], id == 0 ? prefix : aggregate, total);
  int before = 0;
  for (int other = id - 1; other >= 0;) {
    const unsigned long long state = atomicAdd(&states[other], 0ull);
    if (static_cast<unsigned>(state) == nothing) continue;
    before += static_cast<int>(state >> 32);
    if (static_cast<unsigned>(state) == prefix) break;
    --other;
  }
  publish(&states[id], prefix, before + total);
  return before;
}
__global__ void scan(const int* in, int* out, unsigned long long* states, int n) {
  __shared__ int warp_sums[block / 32], id, before_tile;
  if (threadIdx.x == 0) id = atomicAdd(&next_tile, 1);
  __syncthreads();
  const int first = id * tile + threadIdx.x * items;
  int mine[items], sum = 0;
  for (int i = 0; i < items; ++i) sum += mine[i] = first + i < n ? in[first + i] : 0;
  int inclusive = sum;
  for (int distance = 1; distance < 32; distance *= 2) {
    const int left = __shfl_up_sync(0xffffffffu, inclusive, distance);
    if (threadIdx.x % 32 >= distance) inclusive += left;
  }
  if (threadIdx.x % 32 == 31) warp_sums[threadIdx.x / 32] = inclusive;
  __syncthreads();
  int before = inclusive - sum, total = 0;
  for (int warp = 0; warp < block / 32; ++warp) {
    if (warp < threadIdx.x / 32) before += warp_sums[warp];
    total += warp_sums[warp];
  }
  if (threadIdx.x == 0) before_tile = look_back(states, id, total);
  __syncthreads();
  before += before_tile;
  for (int i = 0; i < items; ++i) {
    before += mine[i];
    if (first + i < n) out[first + i] = before;
  }
}
void test_scan() {
  constexpr int n = 11 * tile - 77, tiles = 11;
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i) in[i] = i * 31 % 17 - 8;
  const Buffer<int> out(n);
  const Buffer<unsigned long long> states(std::vector<unsigned long long>(tiles, 0));
  scan<<<tiles, block>>>(Buffer<int>(in), out, states, n);
  CHECK_CUDA(cudaDeviceSynchronize());
  const std::vector<int> found = out.host();
  int sum = 0;
  for (int i = 0; i < n; ++i) CHECK(found[i] == (sum += in[i]));
}

// Rounded sums in the order of the blocks, whichever order they run in.
__global__ void in_order(const float* in, float* sum, int* turn) {
  if (threadIdx.x == 0) {
    while (atomicAdd(turn, 0) != blockIdx.x) __nanosleep(20);
    __threadfence();
  }
  __syncthreads();
  sum[threadIdx.x] += in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicExch(turn, blockIdx.x + 1);
  }
}
void test_semaphore() {
  const std::vector<float> in = Numbers(3).vector(20 * 64);
  const Buffer<float> sums(std::vector<float>(64, 0));
  in_order<<<20, 64>>>(Buffer<float>(in), sums, Buffer<int>(std::vector<int>(1, 0)));
  CHECK_CUDA(cudaDeviceSynchronize());
  const std::vector<float> found = sums.host();
  for (int i = 0; i < 64; ++i) {
    float sum = 0;
    for (int b = 0; b < 20; ++b) sum += in[b * 64 + i];
    CHECK(found[i] == sum);
  }
}

__device__ volatile int barrier_phase;
__device__ int barrier_arrived;
__device__ void wait_for_grid() {
  __syncthreads();
  if (threadIdx.x == 0) {
    const int phase = barrier_phase;
    __threadfence();
    if (atomicAdd(&barrier_arrived, 1) == gridDim.x - 1) {
      barrier_arrived = 0;
      __threadfence();
      barrier_phase = phase + 1;
    } else {
      while (barrier_phase == phase) {
      }
    }
    __threadfence();
  }
  __syncthreads();
}
__global__ void smooth(int* from, int* to, int n, int steps) {
  __shared__ int swaps;
  if (threadIdx.x == 0) swaps = 0;
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
      to[i] = from[(i + 1) % n] + from[(i + n - 1) % n];
    }
    if (threadIdx.x == 0) ++swaps;  // shared memory outlives the waiting
    wait_for_grid();
    int* const swapped = from;
    from = to;
    to = swapped;
  }
  if (threadIdx.x == 0 && swaps != steps) from[0] = -1;
}
void test_barrier() {
  constexpr int n = 500, steps = 6;
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 13;
  const Buffer<int> a(values), b(n);
  smooth<<<5, 64>>>(a, b, n, steps);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (int step = 0; step < steps; ++step) {
    const std::vector<int> old = values;
    for (int i = 0; i < n; ++i) values[i] = old[(i + 1) % n] + old[(i + n - 1) % n];
  }
  CHECK(a.host() == values);
}

// Who waits for whom: the first block for the last one, the first warp for the last one.
using Flag = cuda::atomic<int, cuda::thread_scope_device>;
__global__ void flags(int* out, int* cached, Flag* flag) {
  __shared__ volatile int ready;
  __shared__ int value;
  __shared__ cuda::atomic<int, cuda::thread_scope_block> taken;
  if (threadIdx.x == 0) {
    ready = 0;
    taken.store(-1, cuda::memory_order_relaxed);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    while (ready == 0) {
    }
    __threadfence_block();
    out[blockIdx.x] = value;
    taken.store(1, cuda::memory_order_release);
  } else if (threadIdx.x == blockDim.x - 1) {
    value = 10 * (blockIdx.x + 1);
    __threadfence_block();
    ready = 1;
    while (taken.load(cuda::memory_order_acquire) == -1) {
    }
    out[blockIdx.x] += 1;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (blockIdx.x == gridDim.x - 1) {
    flag->store(1, cuda::memory_order_release);
    out[gridDim.x] = 5;
    __threadfence();
    __stcg(cached, 1);
  } else if (blockIdx.x == 0) {
    while (flag->load(cuda::memory_order_acquire) == 0) {
    }
    out[0] += out[gridDim.x - 1];
    while (__ldcg(cached) == 0) {
    }
    __threadfence();
    out[0] += out[gridDim.x];
  }
}
void test_flags() {
  const Buffer<int> out(4), cached(std::vector<int>(1, 0));
  Flag* flag = nullptr;
  CHECK_CUDA(cudaMalloc(&flag, sizeof *flag));
  CHECK_CUDA(cudaMemset(flag, 0, sizeof *flag));
  flags<<<3, 96>>>(out, cached, flag);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK((out.host() == std::vector<int>{11 + 31 + 5, 21, 31, 5}));
  CHECK_CUDA(cudaFree(flag));
}

int main() {
  test_scan();
  test_semaphore();
  test_barrier();
  test_flags();
  std::printf("waiting: %d failed\n", failed_checks);
  return failed_checks;
}
