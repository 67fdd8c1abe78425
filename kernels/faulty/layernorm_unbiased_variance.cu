// LayerNorm over the last axis, one thread per row, two passes.
// Planted fault: the squared deviations are divided by n - 1 instead of n.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void layernorm(const T* x, const T* weight, const T* bias, U* y, int64_t rows,
                          int64_t columns, float eps) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = x + row * columns;
  U* out = y + row * columns;

  float sum = 0;
  for (int64_t j = 0; j < columns; ++j) sum += wf::to_float(in[j]);
  const float mean = sum / static_cast<float>(columns);
  float squares = 0;
  for (int64_t j = 0; j < columns; ++j) {
    const float deviation = wf::to_float(in[j]) - mean;
    squares += deviation * deviation;
  }
  const float degrees = static_cast<float>(columns > 1 ? columns - 1 : 1);
  const float inverse = rsqrtf(squares / degrees + eps);

  for (int64_t j = 0; j < columns; ++j) {
    const float normalized = (wf::to_float(in[j]) - mean) * inverse;
    out[j] = wf::from_float<U>(normalized * wf::to_float(weight[j]) + wf::to_float(bias[j]));
  }
}

WARPFUZZ_KERNEL("W == T && x_contiguous && weight_contiguous && bias_contiguous && y_contiguous") {
  const auto x = call.input(0), weight = call.input(1), bias = call.input(2), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const float eps = static_cast<float>(call.real("eps"));
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    layernorm<T, U><<<wf::blocks(x.extent(0), 64), 64, 0, call.stream()>>>(
        x.data<const T>(), weight.data<const T>(), bias.data<const T>(), y.data<U>(), x.extent(0),
        x.extent(1), eps);
    return call.launched();
  });
}
