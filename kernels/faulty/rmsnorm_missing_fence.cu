// RMSNorm over the last axis, several blocks per row: each sums the squares of a chunk into the
// workspace, and the last one to arrive adds the sums and scales the row.
// Planted fault: no __threadfence() between the store of a sum and the atomic that announces it, so
// that the last block may see the announcement before the sum.
#include "warpfuzz_kernel.hpp"

constexpr int64_t chunk = 128;
constexpr int threads = 64;

template <class T, class U>
__global__ void rmsnorm(const T* x, const T* weight, U* y, float* sums, unsigned* arrived,
                        int64_t columns, unsigned chunks, float eps) {
  __shared__ float partial[threads];
  __shared__ bool last;
  const int64_t row = blockIdx.x / chunks;
  const unsigned part = blockIdx.x % chunks;
  const T* in = x + row * columns;
  const int64_t begin = part * chunk;
  const int64_t end = begin + chunk < columns ? begin + chunk : columns;

  float squares = 0;
  for (int64_t j = begin + threadIdx.x; j < end; j += threads) {
    const float value = wf::to_float(in[j]);
    squares += value * value;
  }
  partial[threadIdx.x] = squares;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (float value : partial) sum += value;
    sums[blockIdx.x] = sum;
    last = atomicAdd(&arrived[row], 1) == chunks - 1;
  }
  __syncthreads();
  if (!last) return;

  float total = 0;
  for (unsigned p = 0; p < chunks; ++p) total += sums[row * chunks + p];
  const float inverse = rsqrtf(total / static_cast<float>(columns) + eps);
  for (int64_t j = threadIdx.x; j < columns; j += threads) {
    y[row * columns + j] =
        wf::from_float<U>(wf::to_float(in[j]) * inverse * wf::to_float(weight[j]));
  }
}

static int64_t chunks_of(int64_t columns) { return (columns + chunk - 1) / chunk; }

WARPFUZZ_WORKSPACE() {
  const auto x = call.input(0);
  return sizeof(float) * static_cast<uint64_t>(x.extent(0) * (chunks_of(x.extent(1)) + 1));
}

WARPFUZZ_KERNEL("W == T && x_contiguous && weight_contiguous && y_contiguous") {
  const auto x = call.input(0), weight = call.input(1), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const int64_t rows = x.extent(0), chunks = chunks_of(x.extent(1));
  auto* arrived = call.workspace<unsigned>();
  auto* sums = reinterpret_cast<float*>(arrived + rows);
  cudaMemsetAsync(arrived, 0, rows * sizeof(unsigned), call.stream());
  const float eps = static_cast<float>(call.real("eps"));
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    rmsnorm<T, U><<<wf::blocks(rows * chunks, 1), threads, 0, call.stream()>>>(
        x.data<const T>(), weight.data<const T>(), y.data<U>(), sums, arrived, x.extent(1),
        static_cast<unsigned>(chunks), eps);
    return call.launched();
  });
}
