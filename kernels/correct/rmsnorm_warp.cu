// RMSNorm over the last axis: one warp per row with shuffles, contiguous tensors.
#include "warpfuzz_kernel.hpp"

constexpr unsigned all_lanes = 0xffffffff;
constexpr int threads_per_block = 64;

template <class T, class U>
__global__ void rmsnorm_warp(const T* x, const T* weight, U* y, int64_t rows, int64_t columns,
                             float eps, int width) {
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t row = thread / width;
  const int lane = static_cast<int>(thread % width);
  const int64_t end = row < rows ? columns : 0;  // idle lanes still shuffle
  const T* in = x + row * columns;
  U* out = y + row * columns;

  float squares = 0;
  for (int64_t j = lane; j < end; j += width) {
    const float value = wf::to_float(in[j]);
    squares = fmaf(value, value, squares);
  }
  for (int offset = width / 2; offset > 0; offset /= 2) {
    squares += __shfl_xor_sync(all_lanes, squares, offset, width);
  }
  const float inverse = 1.0f / sqrtf(squares / static_cast<float>(columns) + eps);
  for (int64_t j = lane; j < end; j += width) {
    out[j] = wf::from_float<U>(wf::to_float(in[j]) * inverse * wf::to_float(weight[j]));
  }
}

WARPFUZZ_KERNEL("W == T && x_contiguous && weight_contiguous && y_contiguous") {
  const auto x = call.input(0), weight = call.input(1), y = call.output(0);
  if (!weight.same_dtype(x)) return WF_UNSUPPORTED;
  if (!x.contiguous() || !weight.contiguous() || !y.contiguous()) return WF_UNSUPPORTED;
  if (y.size() == 0) return WF_OK;
  const float eps = static_cast<float>(call.real("eps"));
  int width = 1;
  while (width < 32 && width < x.extent(1)) width *= 2;
  return wf::dispatch(x, y, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    rmsnorm_warp<T, U><<<wf::blocks(x.extent(0) * width, threads_per_block), threads_per_block, 0,
                         call.stream()>>>(x.data<const T>(), weight.data<const T>(), y.data<U>(),
                                          x.extent(0), x.extent(1), eps, width);
    return call.launched();
  });
}
