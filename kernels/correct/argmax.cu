// Index of the first maximum over the last axis: one block per row, pairs in shared memory.
#include "warpfuzz_kernel.hpp"

constexpr unsigned max_threads = 64;

struct Best {
  float value;
  int64_t index;
};

// NaN is the greatest; of equals the first.
__device__ bool before(const Best& a, const Best& b) {
  const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
  if (a_nan != b_nan) return a_nan;
  if (!a_nan && a.value != b.value) return a.value > b.value;
  return a.index < b.index;
}

template <class T, class U>
__global__ void argmax(wf::View<const T, 2> x, wf::View<U, 1> y) {
  __shared__ Best buffer[max_threads];
  const int64_t rows = x.extent[0], columns = x.extent[1];
  const unsigned tid = threadIdx.x;

  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    Best best{-INFINITY, columns};
    for (int64_t j = tid; j < columns; j += blockDim.x) {
      const Best next{wf::to_float(x(row, j)), j};
      if (before(next, best)) best = next;
    }
    buffer[tid] = best;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
      if (tid < half && before(buffer[tid + half], buffer[tid])) buffer[tid] = buffer[tid + half];
      __syncthreads();
    }
    if (tid == 0) y(row) = static_cast<U>(buffer[0].index);
    __syncthreads();  // the buffer is written again
  }
}

WARPFUZZ_KERNEL("") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  unsigned threads = 1;
  while (threads < max_threads && threads < x.extent(1)) threads *= 2;
  const auto launch = [&](auto index) {
    using U = decltype(index);
    return wf::dispatch(x, [&](auto t) {
      using T = decltype(t);
      argmax<T, U><<<wf::blocks(x.extent(0), 1), threads, 0, call.stream()>>>(x.view<const T, 2>(),
                                                                              y.view<U, 1>());
      return call.launched();
    });
  };
  if (y.is(kDLInt, 64)) return launch(int64_t{});
  if (y.is(kDLInt, 32)) return launch(int32_t{});
  return WF_UNSUPPORTED;
}
