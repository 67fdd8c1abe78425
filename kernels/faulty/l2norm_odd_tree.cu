// L2 normalisation over the last axis, one block per row with a thread per column up to 128,
// contiguous tensors, shared-memory reduction.
// Planted fault: the tree halves the number of threads, and where that is odd the last one's sum is
// lost.
#include "warpfuzz_kernel.hpp"

constexpr unsigned max_threads = 128;

template <class T, class U>
__global__ void l2norm(const T* x, U* y, int64_t columns, float eps) {
  __shared__ float buffer[max_threads];
  const T* in = x + blockIdx.x * columns;
  U* out = y + blockIdx.x * columns;
  const unsigned tid = threadIdx.x;
  float squares = 0;
  for (int64_t j = tid; j < columns; j += blockDim.x) {
    squares += wf::to_float(in[j]) * wf::to_float(in[j]);
  }
  buffer[tid] = squares;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (tid < half) buffer[tid] += buffer[tid + half];
    __syncthreads();
  }
  const float inverse = rsqrtf(buffer[0] + eps);
  for (int64_t j = tid; j < columns; j += blockDim.x) {
    out[j] = wf::from_float<U>(wf::to_float(in[j]) * inverse);
  }
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const float eps = static_cast<float>(call.real("eps"));
  const int64_t columns = x.extent(1);
  const unsigned threads = columns < max_threads ? static_cast<unsigned>(columns) : max_threads;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    l2norm<T, U><<<wf::blocks(x.extent(0), 1), threads, 0, call.stream()>>>(
        x.data<const T>(), y.data<U>(), x.extent(1), eps);
    return call.launched();
  });
}
