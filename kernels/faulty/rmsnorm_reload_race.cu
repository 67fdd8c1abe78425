// RMSNorm over the last axis into float32, one block per row, contiguous tensors: y first holds
// x / rms, then each thread multiplies four neighbours by the weight.
// Planted fault: no barrier between the two, although the neighbours are other threads' work.
#include "warpfuzz_kernel.hpp"

constexpr int threads = 64;

template <class T, class U>
__global__ void rmsnorm(const T* x, const T* weight, U* y, int64_t columns, float eps) {
  __shared__ float partial[threads / 32];
  const T* in = x + blockIdx.x * columns;
  U* out = y + blockIdx.x * columns;
  float squares = 0;
  for (int64_t j = threadIdx.x; j < columns; j += threads) {
    squares += wf::to_float(in[j]) * wf::to_float(in[j]);
  }
  for (int step = 16; step > 0; step /= 2) {
    squares += __shfl_xor_sync(0xffffffffu, squares, step);
  }
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = squares;
  __syncthreads();
  squares = partial[0] + partial[1];

  const float inverse = rsqrtf(squares / static_cast<float>(columns) + eps);
  for (int64_t j = threadIdx.x; j < columns; j += threads) {
    out[j] = wf::from_float<U>(wf::to_float(in[j]) * inverse);
  }
  for (int64_t first = 4 * threadIdx.x; first < columns; first += 4 * threads) {
    for (int64_t j = first; j < first + 4 && j < columns; ++j) {
      out[j] = wf::from_float<U>(wf::to_float(out[j]) * wf::to_float(weight[j]));
    }
  }
}

WARPFUZZ_KERNEL("W == T && U == float32 && x_contiguous && weight_contiguous && y_contiguous") {
  const auto x = call.input(0), weight = call.input(1), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const float eps = static_cast<float>(call.real("eps"));
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    rmsnorm<T, U><<<wf::blocks(x.extent(0), 1), threads, 0, call.stream()>>>(
        x.data<const T>(), weight.data<const T>(), y.data<U>(), x.extent(1), eps);
    return call.launched();
  });
}
