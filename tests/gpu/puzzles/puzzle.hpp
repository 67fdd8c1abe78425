// Common part of the puzzles: ReLU that is right unless conditions on shape and data, nested in
// device branches, all hold; then one element is wrong. N conditions must be found one after the
// other.
#pragma once

#include "warpfuzz_kernel.hpp"

namespace puzzle {

// By their bits, so that NaN and -0 can be asked for.
__device__ inline bool is_negative_zero(float x) { return __float_as_uint(x) == 0x80000000u; }
__device__ inline bool is_special(float x) {  // NaN or infinite
  return (__float_as_uint(x) & 0x7f800000u) == 0x7f800000u;
}

template <class Wrong>
__global__ void relu(wf::View<const float, 2> x, wf::View<float, 2> y, Wrong wrong) {
  const int64_t columns = x.extent[1], size = x.extent[0] * columns;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
       i += step) {
    const float value = x(i / columns, i % columns);
    y(i / columns, i % columns) = value < 0 ? 0.0f : value;
    if (i == size - 1) wrong(x, y);
  }
}

template <class Wrong>
WfStatus run(const wf::Call& call, Wrong wrong) {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  relu<<<wf::blocks(y.size(), 128, 1024), 128, 0, call.stream()>>>(x.view<const float, 2>(),
                                                                   y.view<float, 2>(), wrong);
  return call.launched();
}

}  // namespace puzzle
