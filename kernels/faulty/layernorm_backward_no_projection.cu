// Gradient of layernorm with respect to x, one thread per row.
// Planted fault: the part along x is not taken out of the gradient.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void layernorm_backward(const T* dy, const T* x, const T* weight, U* dx, int64_t rows,
                                   int64_t columns, float eps) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = x + row * columns;
  const T* gradient = dy + row * columns;
  U* out = dx + row * columns;
  const float count = static_cast<float>(columns);

  float mean = 0, squares = 0, sum_g = 0;
  for (int64_t j = 0; j < columns; ++j) mean += wf::to_float(in[j]);
  mean /= count;
  for (int64_t j = 0; j < columns; ++j) {
    const float deviation = wf::to_float(in[j]) - mean;
    squares += deviation * deviation;
  }
  const float inverse = rsqrtf(squares / count + eps);
  for (int64_t j = 0; j < columns; ++j) {
    const float g = wf::to_float(gradient[j]) * wf::to_float(weight[j]);
    sum_g += g;
  }
  for (int64_t j = 0; j < columns; ++j) {
    const float g = wf::to_float(gradient[j]) * wf::to_float(weight[j]);
    out[j] = wf::from_float<U>((g - sum_g / count) * inverse);
  }
}

WARPFUZZ_KERNEL("W == T && dy_contiguous && x_contiguous && weight_contiguous && dx_contiguous") {
  const auto dy = call.input(0), x = call.input(1), weight = call.input(2), dx = call.output(0);
  if (dx.size() == 0) return WF_OK;
  const float eps = static_cast<float>(call.real("eps"));
  return wf::dispatch(x, dx, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    layernorm_backward<T, U><<<wf::blocks(x.extent(0), 64), 64, 0, call.stream()>>>(
        dy.data<const T>(), x.data<const T>(), weight.data<const T>(), dx.data<U>(), x.extent(0),
        x.extent(1), eps);
    return call.launched();
  });
}
