// Kernels with one fault each and, by the macro FAULTY, their correct twins:
//
//   faults NAME faulty|correct
//
// The line that a report must name bears the comment  // fault: NAME . Where nothing but the result
// is wrong it is the line of the check.
#include <mma.h>

#include <cuda/atomic>

#include "check.h"

#define KERNEL           \
  template <bool Faulty> \
  __global__ void

KERNEL off_by_one(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (Faulty ? i > n : i >= n) return;
  data[i] *= 2;  // fault: off_by_one
}
KERNEL global_underflow(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float left = i > 0 || Faulty ? data[i - 1] : 0;  // fault: global_underflow
  __syncthreads();
  if (i < n) data[i] = left;
}
template <int N, bool Faulty>
__device__ void shift(float* data) {
  __shared__ float tile[N];
  if (threadIdx.x < N) tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  const float* row = tile;
  if (threadIdx.x < (Faulty ? N : N - 1)) {
    data[threadIdx.x] = row[threadIdx.x + 1];  // fault: shared_in_template
  }
}
KERNEL shared_in_template(float* data, int) {
  shift<96, false>(data);
  __syncthreads();
  shift<64, Faulty>(data);
}
KERNEL dynamic_shared(float* data, int) {
  extern __shared__ float dynamic[];
  const int at = threadIdx.x + threadIdx.x / 32 * (Faulty ? 1 : 0);  // a padded row of 33
  dynamic[at] = data[threadIdx.x];                                   // fault: dynamic_shared
  __syncthreads();
  data[threadIdx.x] = dynamic[at];
}
template <int N, bool Faulty>
__device__ void mirror(float* data) {
  __shared__ float tile[N];
  if (threadIdx.x < N) tile[threadIdx.x] = data[threadIdx.x];
  if (!Faulty) __syncthreads();
  if (threadIdx.x < N) data[threadIdx.x] = tile[N - 1 - threadIdx.x];  // fault: missing_barrier
}
KERNEL missing_barrier(float* data, int) {
  mirror<96, false>(data);
  __syncthreads();
  mirror<64, Faulty>(data);
}
// The first block waits for what the second one has written.
KERNEL relaxed_flag(float* data, int) {
  using Flag = cuda::atomic_ref<float, cuda::thread_scope_device>;
  const Flag flag(data[0]);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 1) {
    data[1] = 9;
    flag.store(1, Faulty ? cuda::memory_order_relaxed : cuda::memory_order_release);
  } else {
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    data[2] = data[1];  // fault: relaxed_flag
  }
}
KERNEL divergent_barrier(float* data, int) {
  __shared__ float total;
  if (threadIdx.x == 0) total = data[0];
  if (Faulty && threadIdx.x < 48) {
    __syncthreads();
  } else {
    __syncthreads();  // fault: divergent_barrier
  }
  data[threadIdx.x] += total;
}
KERNEL early_return(float* data, int n) {
  __shared__ float tile[96];
  if (Faulty && threadIdx.x >= n - 10) return;
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();  // fault: early_return
  data[threadIdx.x] = tile[threadIdx.x / 2];
}
KERNEL exited_lane(float* data, int n) {
  if (threadIdx.x >= n - 10 && Faulty) return;
  float sum = threadIdx.x < n - 10 ? data[threadIdx.x] : 0;
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, offset);  // fault: exited_lane
  }
  if (threadIdx.x % 32 == 0) data[threadIdx.x] = sum;
}
// Of 80 threads: the last warp has 16 lanes.
KERNEL partial_warp(float* data, int) {
  float sum = data[threadIdx.x];
  const int lanes = min(32, blockDim.x - threadIdx.x / 32 * 32);
  for (int offset = 16; offset > 0; offset /= 2) {
    const bool there = Faulty || threadIdx.x % 32 + offset < lanes;
    const int source = there ? threadIdx.x + offset : threadIdx.x;
    const float other = __shfl_sync(0xffffffffu, sum, source);  // fault: partial_warp
    if (there) sum += other;
  }
  if (threadIdx.x % 32 == 0) data[threadIdx.x] = sum;
}
// Of 96 threads: halves 48, 24, 12, 6, 3, 1 lose an element where they are odd.
KERNEL tree_power_of_two(float* data, int) {
  __shared__ float tile[96];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  for (int width = Faulty ? blockDim.x : 128; width > 1; width /= 2) {
    const int half = width / 2;
    if (threadIdx.x < half && threadIdx.x + half < blockDim.x)
      tile[threadIdx.x] += tile[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) data[0] = tile[0];
}
// data is a row of n elements and, from 96 on, a column; 16 elements per step; the result goes
// to 95.
KERNEL dropped_tail(float* data, int n) {
  float sum = 0;
  for (int first = 0; Faulty ? first + 16 <= n : first < n; first += 16) {
    const int i = first + threadIdx.x % 16;
    if (i < n) sum += data[i] * data[96 + i];
  }
  for (int offset = 8; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0) data[95] = sum;
}
KERNEL unguarded_tail(float* data, int n) {
  float sum = 0;
  for (int first = 0; first < n; first += 64) {
    const int i = first + threadIdx.x;
    if (i < n || Faulty) sum += data[100 + i];  // fault: unguarded_tail
  }
  data[threadIdx.x] = sum;
}
KERNEL index_overflow(float* data, int n) {
  const int row = 1 << 16, columns = Faulty ? 1 << 15 : 1 << 14;
  const int at = row * columns + int(threadIdx.x);  // fault: index_overflow
  if (at >= 0 && at < n) data[at] = 1;
}
KERNEL null_pointer(float* data, int n) {
  float* where = Faulty && threadIdx.x == 3 ? nullptr : data;
  where[threadIdx.x] = 1;  // fault: null_pointer
}
KERNEL endless(float* data, int n) {
  volatile float* flag = data;
  while (Faulty && *flag >= -1e30f) {  // fault: endless
  }
}
KERNEL warp_deadlock(float* data, int) {
  if (threadIdx.x < 16 && Faulty) {
    __syncwarp();  // fault: warp_deadlock
  } else {
    data[threadIdx.x] = __any_sync(Faulty ? 0xffffffffu : __activemask(), 1);
  }
}
KERNEL assertion(float* data, int n) {
  assert(!Faulty || threadIdx.x < 70);  // fault: assertion
  data[threadIdx.x] = 1;
}
KERNEL matrix_alignment(float* data, int) {
  using namespace nvcuda::wmma;
  fragment<accumulator, 16, 16, 16, float> f;
  const float* from = data + (Faulty ? 2 : 0);
  load_matrix_sync(f, from, 16, mem_row_major);  // fault: matrix_alignment
  store_matrix_sync(data, f, 16, mem_row_major);
}

constexpr int size = 300;
std::vector<float> run(void (*kernel)(float*, int), int n, int threads, int blocks = 1) {
  std::vector<float> values(size);
  for (int i = 0; i < size; ++i) values[i] = float(i % 7);
  const Buffer<float> data(values);
  kernel<<<blocks, threads, 96 * sizeof(float)>>>(data, n);
  CHECK_CUDA(cudaDeviceSynchronize());
  return data.host();
}

void tree(void (*kernel)(float*, int)) {
  float sum = 0;
  for (int i = 0; i < 96; ++i) sum += float(i % 7);
  CHECK(run(kernel, 96, 96)[0] == sum);  // fault: tree_power_of_two
}
void tail(void (*kernel)(float*, int)) {
  float sum = 0;
  for (int i = 0; i < 50; ++i) sum += float(i % 7) * float((96 + i) % 7);
  CHECK(run(kernel, 50, 32)[95] == sum);  // fault: dropped_tail
}

// Faults of the host's part.
__global__ void doubled(float* data) {
  data[threadIdx.x] *= 2;  // fault: freed_memory
}
void freed_memory(bool faulty) {
  float* data = nullptr;
  CHECK_CUDA(cudaMalloc(&data, 96 * sizeof(float)));
  CHECK_CUDA(cudaMemset(data, 0, 96 * sizeof(float)));
  if (faulty) cudaFree(data);
  doubled<<<1, 96>>>(data);
  CHECK_CUDA(cudaDeviceSynchronize());
}
void host_overflow(bool faulty) {
  std::vector<float> values(64);
  const Buffer<float> data(values);
  const size_t bytes = faulty ? 65 * sizeof(float) : 64 * sizeof(float);
  cudaMemcpy(values.data(), data, bytes, cudaMemcpyDeviceToHost);  // fault: host_overflow
  float* raw = values.data();
  if (faulty) raw[64] = 1;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const bool faulty = std::strcmp(argv[2], "faulty") == 0;
  const auto is = [&](const char* name) { return std::strcmp(argv[1], name) == 0; };
#define RUN(name, ...) \
  if (is(#name)) run(faulty ? name<true> : name<false>, __VA_ARGS__);
  RUN(off_by_one, size, 128, 3)
  RUN(global_underflow, 96, 96)
  RUN(shared_in_template, 96, 96)
  RUN(dynamic_shared, 96, 96)
  RUN(missing_barrier, 96, 96)
  RUN(relaxed_flag, size, 32, 2)
  RUN(divergent_barrier, 96, 96)
  RUN(early_return, 96, 96)
  RUN(exited_lane, 96, 96)
  RUN(partial_warp, 80, 80)
  RUN(unguarded_tail, 200, 64)
  RUN(index_overflow, size, 32)
  RUN(null_pointer, 96, 32)
  RUN(endless, 96, 32)
  RUN(warp_deadlock, 32, 32)
  RUN(assertion, 96, 96)
  RUN(matrix_alignment, 256, 32)
  if (is("tree_power_of_two")) tree(faulty ? tree_power_of_two<true> : tree_power_of_two<false>);
  if (is("dropped_tail")) tail(faulty ? dropped_tail<true> : dropped_tail<false>);
  if (is("freed_memory")) freed_memory(faulty);
  if (is("host_overflow")) host_overflow(faulty);
  return failed_checks;
}
