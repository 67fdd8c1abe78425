// RMSNorm over the last axis, one thread per row, contiguous tensors.
// Planted fault: elements of float16 are squared in float16, where 256 * 256 is infinite.
#include "warpfuzz_kernel.hpp"

__device__ float square(float x) { return x * x; }
__device__ float square(__half x) { return __half2float(__hmul(x, x)); }
__device__ float square(__nv_bfloat16 x) { return __bfloat162float(x) * __bfloat162float(x); }

template <class T, class U>
__global__ void rmsnorm(const T* x, const T* weight, U* y, int64_t rows, int64_t columns,
                        float eps) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* in = x + row * columns;
  float squares = 0;
  for (int64_t j = 0; j < columns; ++j) squares += square(in[j]);
  const float inverse = rsqrtf(squares / static_cast<float>(columns) + eps);
  for (int64_t j = 0; j < columns; ++j) {
    y[row * columns + j] =
        wf::from_float<U>(wf::to_float(in[j]) * inverse * wf::to_float(weight[j]));
  }
}

WARPFUZZ_KERNEL("W == T && x_contiguous && weight_contiguous && y_contiguous") {
  const auto x = call.input(0), weight = call.input(1), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const float eps = static_cast<float>(call.real("eps"));
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    rmsnorm<T, U><<<wf::blocks(x.extent(0), 64), 64, 0, call.stream()>>>(
        x.data<const T>(), weight.data<const T>(), y.data<U>(), x.extent(0), x.extent(1), eps);
    return call.launched();
  });
}
