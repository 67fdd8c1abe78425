// Softmax over the last axis for rows of up to 1024 columns: maximum and sum of each chunk of 128
// into the workspace, then merged by the second kernel.
// Planted fault: the merge reads all eight slots of a row, also those of chunks that do not exist
// and that nobody has written.
#include "warpfuzz_kernel.hpp"

constexpr int64_t chunk = 128;
constexpr int64_t slots = 8;

struct Partial {
  float maximum;
  float sum;
};

template <class T>
__global__ void reduce_chunks(const T* x, Partial* partial, int64_t rows, int64_t columns,
                              int64_t chunks) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= rows * chunks) return;
  const int64_t row = i / chunks, begin = i % chunks * chunk;
  const int64_t end = begin + chunk < columns ? begin + chunk : columns;
  const T* in = x + row * columns;
  Partial p{-INFINITY, 0};
  for (int64_t j = begin; j < end; ++j) p.maximum = fmaxf(p.maximum, wf::to_float(in[j]));
  for (int64_t j = begin; j < end; ++j) {
    const float value = wf::to_float(in[j]);
    p.sum += value == -INFINITY ? 0.0f : expf(value - p.maximum);
  }
  partial[row * slots + i % chunks] = p;
}

template <class T, class U>
__global__ void normalize(const T* x, const Partial* partial, U* y, int64_t size, int64_t columns) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const Partial* p = partial + i / columns * slots;
  float maximum = -INFINITY;
  for (int s = 0; s < slots; ++s) maximum = fmaxf(maximum, p[s].maximum);
  float sum = 0;
  for (int s = 0; s < slots; ++s) {
    sum += p[s].maximum == maximum ? p[s].sum : p[s].sum * expf(p[s].maximum - maximum);
  }
  y[i] = wf::from_float<U>(expf(wf::to_float(x[i]) - maximum) / sum);
}

WARPFUZZ_WORKSPACE() {
  return sizeof(Partial) * static_cast<uint64_t>(slots * call.input(0).extent(0));
}

WARPFUZZ_KERNEL("x_contiguous && y_contiguous && n <= 1024") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const int64_t rows = x.extent(0), columns = x.extent(1);
  const int64_t chunks = (columns + chunk - 1) / chunk;
  Partial* partial = call.workspace<Partial>();
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    reduce_chunks<T><<<wf::blocks(rows * chunks, 64), 64, 0, call.stream()>>>(
        x.data<const T>(), partial, rows, columns, chunks);
    normalize<T, U><<<wf::blocks(y.size(), 128), 128, 0, call.stream()>>>(
        x.data<const T>(), partial, y.data<U>(), y.size(), columns);
    return call.launched();
  });
}
