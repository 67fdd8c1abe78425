// LayerNorm over the last axis: one warp per row, Welford's recurrence merged with shuffles.
#include "warpfuzz_kernel.hpp"

constexpr unsigned all_lanes = 0xffffffff;
constexpr int threads_per_block = 64;

// squares is the sum of squared deviations from mean.
struct Moments {
  float count = 0;
  float mean = 0;
  float squares = 0;
};

__device__ void add(Moments& m, float value) {
  m.count += 1;
  const float delta = value - m.mean;
  m.mean += delta / m.count;
  m.squares += delta * (value - m.mean);
}

__device__ Moments merge(const Moments& a, const Moments& b) {
  if (b.count == 0) return a;
  if (a.count == 0) return b;
  Moments m;
  m.count = a.count + b.count;
  const float delta = b.mean - a.mean;
  m.mean = a.mean + delta * (b.count / m.count);
  m.squares = a.squares + b.squares + delta * delta * (a.count * b.count / m.count);
  return m;
}

template <class T, class W, class U>
__global__ void layernorm_welford(wf::View<const T, 2> x, wf::View<const W, 1> weight,
                                  wf::View<const W, 1> bias, wf::View<U, 2> y, float eps,
                                  int width) {
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t row = thread / width;
  const int lane = static_cast<int>(thread % width);
  const int64_t columns = row < x.extent[0] ? x.extent[1] : 0;  // idle lanes still shuffle

  Moments moments;
  for (int64_t j = lane; j < columns; j += width) add(moments, wf::to_float(x(row, j)));
  for (int offset = width / 2; offset > 0; offset /= 2) {
    Moments other;
    other.count = __shfl_down_sync(all_lanes, moments.count, offset, width);
    other.mean = __shfl_down_sync(all_lanes, moments.mean, offset, width);
    other.squares = __shfl_down_sync(all_lanes, moments.squares, offset, width);
    if (lane + offset < width) moments = merge(moments, other);
  }
  const float mean = __shfl_sync(all_lanes, moments.mean, 0, width);
  const float squares = __shfl_sync(all_lanes, moments.squares, 0, width);
  const float inverse = rsqrtf(squares / static_cast<float>(x.extent[1]) + eps);
  for (int64_t j = lane; j < columns; j += width) {
    const float normalized = (wf::to_float(x(row, j)) - mean) * inverse;
    y(row, j) = wf::from_float<U>(fmaf(normalized, wf::to_float(weight(j)), wf::to_float(bias(j))));
  }
}

WARPFUZZ_KERNEL("") {
  const auto x = call.input(0), weight = call.input(1), bias = call.input(2), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const float eps = static_cast<float>(call.real("eps"));
  int width = 1;
  while (width < 32 && width < x.extent(1)) width *= 2;
  return wf::dispatch<wf::Types<float, float, float>, wf::Types<float, float, __half>,
                      wf::Types<__half, __half, __half>, wf::Types<__half, float, __half>,
                      wf::Types<__half, __half, float>,
                      wf::Types<__nv_bfloat16, __nv_bfloat16, __nv_bfloat16>,
                      wf::Types<__nv_bfloat16, float, __nv_bfloat16>,
                      wf::Types<__nv_bfloat16, __nv_bfloat16, float>>(
      x, weight, y, [&](auto t, auto w, auto u) {
        using T = decltype(t);
        using W = decltype(w);
        using U = decltype(u);
        layernorm_welford<T, W, U>
            <<<wf::blocks(x.extent(0) * width, threads_per_block), threads_per_block, 0,
               call.stream()>>>(x.view<const T, 2>(), weight.view<const W, 1>(),
                                bias.view<const W, 1>(), y.view<U, 2>(), eps, width);
        return call.launched();
      });
}
