// Softmax over the last axis of up to 1024 columns, contiguous tensors: one warp per row, the row
// in registers. Lanes load four neighbouring elements at once and hold one per 32 columns, rounded
// up to a power of two. Planted fault: a lane of a row of up to 64 columns holds one or two, and of
// the four elements that it loads the others are lost.
#include "warpfuzz_kernel.hpp"

constexpr int64_t per_load = 4;
constexpr int64_t most_columns = 1024;
constexpr int64_t most_held = most_columns / 32;

template <class T, class U>
__global__ void softmax(const T* x, U* y, int64_t columns, int held) {
  const T* in = x + blockIdx.x * columns;
  U* out = y + blockIdx.x * columns;
  const auto column = [](int i) {
    return i / per_load * per_load * 32 + threadIdx.x * per_load + i % per_load;
  };

  float values[most_held];
  float maximum = -INFINITY;
  const int loaded = held < per_load ? per_load : held;
  for (int i = 0; i < loaded; ++i) {
    values[i] = column(i) < columns ? wf::to_float(in[column(i)]) : -INFINITY;
  }
  for (int i = 0; i < held; ++i) maximum = fmaxf(maximum, values[i]);
  for (int offset = 16; offset > 0; offset /= 2) {
    maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffffu, maximum, offset));
  }
  float sum = 0;
  for (int i = 0; i < held; ++i) {
    if (column(i) >= columns) continue;
    values[i] = expf(values[i] - maximum);
    sum += values[i];
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  }
  for (int i = 0; i < loaded; ++i) {
    if (column(i) < columns) out[column(i)] = wf::from_float<U>(values[i] / sum);
  }
}

WARPFUZZ_KERNEL("n <= 1024 && x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (x.extent(1) > most_columns) return WF_UNSUPPORTED;
  if (y.size() == 0) return WF_OK;
  int held = 1;
  while (32 * held < x.extent(1)) held *= 2;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    softmax<T, U><<<wf::blocks(x.extent(0), 1), 32, 0, call.stream()>>>(
        x.data<const T>(), y.data<U>(), x.extent(1), held);
    return call.launched();
  });
}
