// ReLU with an illegal address for about one shape in a hundred: what a fault of the device does to
// a campaign.
#include "warpfuzz_kernel.hpp"

__global__ void relu(wf::View<const float, 2> x, wf::View<float, 2> y) {
  const int64_t columns = x.extent[1], size = x.extent[0] * columns;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
       i += step) {
    const float value = x(i / columns, i % columns);
    y(i / columns, i % columns) = value < 0 ? 0.0f : value;
    if (size % 101 == 37) reinterpret_cast<volatile float*>(uintptr_t{1} << 44)[i] = value;
  }
}

WARPFUZZ_KERNEL("T == float32 && U == float32") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  relu<<<wf::blocks(y.size(), 128, 1024), 128, 0, call.stream()>>>(x.view<const float, 2>(),
                                                                   y.view<float, 2>());
  return call.launched();
}
