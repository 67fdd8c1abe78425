// Split barriers and asynchronous copies: cuda::barrier in every role, batches of copies of groups
// and of single threads, pipelines of one thread, of a block, of producers and consumers.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>

#include "check.h"

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int threads = 128;

// Each element becomes the sum of itself and the next one, `steps` times.
__global__ void split_barriers(int* data, int* own, int steps) {
  __shared__ int tile[threads];
  __shared__ Barrier written, read;
  const cg::thread_block block = cg::this_thread_block();
  const int t = threadIdx.x;
  if (t == 0) {
    init(&written, threads);
    init(&read, threads);
  }
  tile[t] = data[t];
  auto begun = block.barrier_arrive();
  own[t] = 0;
  block.barrier_wait(std::move(begun));
  for (int step = 0; step < steps; ++step) {
    const int sum = tile[t] + tile[(t + 1) % threads];
    Barrier::arrival_token all_read = read.arrive();
    own[t] += step;  // work of its own in between
    read.wait(std::move(all_read));
    tile[t] = sum;
    written.arrive_and_wait();
  }
  data[t] = tile[t];
}
void test_split_barriers() {
  std::vector<int> values(threads);
  for (int i = 0; i < threads; ++i) values[i] = i * i % 31;
  const Buffer<int> data(values), own(threads);
  split_barriers<<<1, threads>>>(data, own, 5);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (int step = 0; step < 5; ++step) {
    const std::vector<int> old = values;
    for (int i = 0; i < threads; ++i) values[i] = old[i] + old[(i + 1) % threads];
  }
  CHECK(data.host() == values);
  CHECK((own.host() == std::vector<int>(threads, 10)));
}

// The last to arrive runs the function; threads leave one after the other.
struct Advance {
  int* phases;
  const int* arrived;
  int* seen;
  __device__ void operator()() const {
    seen[*phases] = *arrived;
    ++*phases;
  }
};
__global__ void leaving(int* phases, int* arrived, int* seen) {
  using WithFunction = cuda::barrier<cuda::thread_scope_block, Advance>;
  __shared__ alignas(WithFunction) unsigned char memory[sizeof(WithFunction)];
  WithFunction* const barrier = reinterpret_cast<WithFunction*>(memory);
  if (threadIdx.x == 0) init(barrier, blockDim.x, Advance{phases, arrived, seen});
  __syncthreads();
  for (int phase = 0; phase < 8; ++phase) {
    atomicAdd(arrived, 1);
    if (phase == threadIdx.x) {
      barrier->arrive_and_drop();
      return;
    }
    barrier->arrive_and_wait();
    if (*phases != phase + 1) *phases = -100;
  }
}
void test_completion() {
  const Buffer<int> phases(std::vector<int>(1, 0)), arrived(std::vector<int>(1, 0)), seen(8);
  leaving<<<1, 40>>>(phases, arrived, seen);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(phases.host()[0] == 8);
  const std::vector<int> found = seen.host();
  for (int phase = 0, count = 0; phase < 8; ++phase) CHECK(found[phase] == (count += 40 - phase));
}

// Blocks of a grid meet at a barrier in global memory.
using GridBarrier = cuda::barrier<cuda::thread_scope_device>;
__global__ void make(GridBarrier* barrier, int count) { init(barrier, count); }
__global__ void meet(GridBarrier* barrier, int* data) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  for (int step = 0; step < 3; ++step) {
    const int right = data[(i + 1) % n];
    barrier->arrive_and_wait();
    data[i] += right;
    barrier->arrive_and_wait();
  }
}
void test_grid_barrier() {
  constexpr int n = 3 * 64;
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  const Buffer<int> data(values);
  GridBarrier* barrier = nullptr;
  CHECK_CUDA(cudaMalloc(&barrier, sizeof *barrier));
  make<<<1, 1>>>(barrier, n);
  meet<<<3, 64>>>(barrier, data);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (int step = 0; step < 3; ++step) {
    const std::vector<int> old = values;
    for (int i = 0; i < n; ++i) values[i] += old[(i + 1) % n];
  }
  CHECK(data.host() == values);
  CHECK_CUDA(cudaFree(barrier));
}

// The first warp fills one half of a buffer while the others sum up the other half.
__global__ void specialised(const int* in, int* out, int rounds) {
  constexpr int half = 96;
  __shared__ int buffer[2][half];
  __shared__ Barrier full[2], empty[2];
  if (threadIdx.x < 4)
    init(threadIdx.x < 2 ? &full[threadIdx.x] : &empty[threadIdx.x - 2], blockDim.x);
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int round = 0; round < rounds; ++round) {
      empty[round % 2].arrive_and_wait();
      for (int i = threadIdx.x; i < half; i += 32) buffer[round % 2][i] = in[round * half + i];
      Barrier::arrival_token token = full[round % 2].arrive();
      (void)token;
    }
  } else {
    for (int i = 0; i < 2; ++i) {
      Barrier::arrival_token token = empty[i].arrive();
      (void)token;
    }
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
      full[round % 2].arrive_and_wait();
      for (int i = threadIdx.x - 32; i < half; i += blockDim.x - 32) sum += buffer[round % 2][i];
      Barrier::arrival_token token = empty[round % 2].arrive();
      (void)token;
    }
    atomicAdd(out, sum);
  }
}
void test_specialised() {
  std::vector<int> in(96 * 7);
  int sum = 0;
  for (size_t i = 0; i < in.size(); ++i) sum += in[i] = int(i * 37 % 101);
  const Buffer<int> out(std::vector<int>(1, 0));
  specialised<<<1, 96>>>(Buffer<int>(in), out, 7);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(out.host()[0] == sum);
}

// Every kernel below sums the columns of a matrix whose rows come to shared memory by copies.
__global__ void by_group(const int* in, int* out, int rows) {
  __shared__ alignas(16) int stage[3][threads];
  const cg::thread_block block = cg::this_thread_block();
  int sum = 0;
  for (int row = 0; row < 2; ++row) {
    cg::memcpy_async(block, stage[row], in + row * threads, sizeof stage[row]);
  }
  for (int row = 0; row < rows; ++row) {
    if (row + 2 < rows) {
      cg::memcpy_async(block, stage[(row + 2) % 3], in + (row + 2) * threads,
                       cuda::aligned_size_t<16>(sizeof stage[0]));
      cg::wait_prior<2>(block);
    } else {
      cg::wait(block);
    }
    sum += stage[row % 3][threads - 1 - threadIdx.x];
    block.sync();
  }
  out[threadIdx.x] = sum;
}
__global__ void by_thread(const int* in, int* out, int rows) {
  __shared__ alignas(16) int stage[2][threads];
  const int first = threadIdx.x * 4;
  const auto fetch = [&](int row) {
    // Of the last quad only three are in the row: the fourth is 0.
    if (first < threads) {
      const int zeros = first + 4 == threads ? 4 : 0;
      __pipeline_memcpy_async(&stage[row % 2][first], in + row * threads + first, 16, zeros);
    }
    __pipeline_commit();
  };
  int sum = 0;
  fetch(0);
  for (int row = 0; row < rows; ++row) {
    if (row + 1 < rows) fetch(row + 1);
    __pipeline_wait_prior(row + 1 < rows ? 1 : 0);
    __syncthreads();
    sum += stage[row % 2][threads - 1 - threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
__global__ void by_barrier(const int* in, int* out, int rows) {
  __shared__ alignas(16) int stage[threads];
  __shared__ Barrier arrived;
  const cg::thread_block block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&arrived, block.size());
  block.sync();
  int sum = 0;
  for (int row = 0; row < rows; ++row) {
    cuda::memcpy_async(block, stage, in + row * threads, sizeof stage, arrived);
    arrived.arrive_and_wait();
    sum += stage[threads - 1 - threadIdx.x];
    block.sync();
  }
  out[threadIdx.x] = sum;
}
__global__ void by_own_pipeline(const int* in, int* out, int rows) {
  __shared__ int stage[2][threads];
  cuda::pipeline<cuda::thread_scope_thread> line = cuda::make_pipeline();
  const int t = threadIdx.x;
  int sum = 0;
  for (int row = 0; row < rows + 1; ++row) {
    if (row < rows) {
      line.producer_acquire();
      cuda::memcpy_async(&stage[row % 2][t], in + row * threads + t, sizeof(int), line);
      line.producer_commit();
    }
    if (row == 0) continue;
    line.consumer_wait();
    sum += stage[(row - 1) % 2][t];  // a thread's own copy needs no barrier
    line.consumer_release();
  }
  out[threads - 1 - t] = sum;
}
__global__ void by_block_pipeline(const int* in, int* out, int rows) {
  constexpr int stages = 2;
  __shared__ alignas(16) int stage[stages][threads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  const cg::thread_block block = cg::this_thread_block();
  auto line = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int compute = 0, fetch = 0; compute < rows; ++compute) {
    for (; fetch < rows && fetch < compute + stages; ++fetch) {
      line.producer_acquire();
      cuda::memcpy_async(block, stage[fetch % stages], in + fetch * threads,
                         cuda::aligned_size_t<16>(sizeof stage[0]), line);
      line.producer_commit();
    }
    line.consumer_wait();
    sum += stage[compute % stages][threads - 1 - threadIdx.x];
    line.consumer_release();
  }
  out[threadIdx.x] = sum;
}
// One more warp, which only copies.
__global__ void by_producers(const int* in, int* out, int rows) {
  __shared__ int stage[2][threads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const cg::thread_block block = cg::this_thread_block();
  const bool producer = threadIdx.x >= threads;
  auto line = cuda::make_pipeline(
      block, &state, producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  int sum = 0;
  for (int row = 0; row < rows; ++row) {
    if (producer) {
      line.producer_acquire();
      for (int i = threadIdx.x - threads; i < threads; i += 32) {
        cuda::memcpy_async(&stage[row % 2][i], &in[row * threads + i], sizeof(int), line);
      }
      line.producer_commit();
    } else {
      line.consumer_wait();
      sum += stage[row % 2][threads - 1 - threadIdx.x];
      line.consumer_release();
    }
  }
  if (!producer) out[threadIdx.x] = sum;
}
void test_copies() {
  constexpr int rows = 7;
  std::vector<int> in(rows * threads);
  for (size_t i = 0; i < in.size(); ++i) in[i] = int(i * 53 % 97) - 40;
  for (int row = 0; row < rows; ++row) in[row * threads + threads - 1] = 0;
  std::vector<int> sums(threads);
  for (int i = 0; i < rows * threads; ++i) sums[threads - 1 - i % threads] += in[i];
  for (const auto kernel : {by_group, by_thread, by_barrier, by_own_pipeline, by_block_pipeline}) {
    const Buffer<int> out(threads);
    kernel<<<2, threads>>>(Buffer<int>(in), out, rows);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(out.host() == sums);
  }
  const Buffer<int> out(threads);
  by_producers<<<1, threads + 32>>>(Buffer<int>(in), out, rows);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(out.host() == sums);
}

using Latch = cuda::latch<cuda::thread_scope_device>;
using Semaphore = cuda::counting_semaphore<cuda::thread_scope_device>;
__global__ void prepare(Latch* latch, Semaphore* semaphore, int count) {
  new (latch) Latch(count);
  new (semaphore) Semaphore(1);
}
__global__ void guarded(Latch* latch, Semaphore* semaphore, int* total) {
  if (threadIdx.x == 0) {
    semaphore->acquire();
    *total += blockIdx.x + 1;
    semaphore->release();
    latch->arrive_and_wait();
    if (*total != gridDim.x * (gridDim.x + 1) / 2) *total = -1000;
  }
}
void test_latch_and_semaphore() {
  Latch* latch = nullptr;
  Semaphore* semaphore = nullptr;
  CHECK_CUDA(cudaMalloc(&latch, sizeof *latch));
  CHECK_CUDA(cudaMalloc(&semaphore, sizeof *semaphore));
  const Buffer<int> total(std::vector<int>(1, 0));
  prepare<<<1, 1>>>(latch, semaphore, 6);
  guarded<<<6, 32>>>(latch, semaphore, total);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(total.host()[0] == 21);
  CHECK_CUDA(cudaFree(latch));
  CHECK_CUDA(cudaFree(semaphore));
}

int main() {
  test_split_barriers();
  test_completion();
  test_grid_barrier();
  test_specialised();
  test_copies();
  test_latch_and_semaphore();
  std::printf("asynchronous: %d failed\n", failed_checks);
  return failed_checks;
}
