// Gradients of layernorm. dx: one block per row, statistics taken again from x and kept in the
// workspace; dweight and dbias: one thread per column, which walks down the rows in their order.
#include "warpfuzz_kernel.hpp"

constexpr unsigned max_threads = 64;

// blockDim.x is a power of two.
__device__ float block_sum(float value, float* buffer) {
  const unsigned tid = threadIdx.x;
  buffer[tid] = value;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (tid < half) buffer[tid] += buffer[tid + half];
    __syncthreads();
  }
  const float sum = buffer[0];
  __syncthreads();  // the buffer is written again
  return sum;
}

template <class T, class W, class U>
__global__ void layernorm_backward(wf::View<const T, 2> dy, wf::View<const T, 2> x,
                                   wf::View<const W, 1> weight, wf::View<U, 2> dx, float2* stats,
                                   float eps) {
  __shared__ float buffer[max_threads];
  const int64_t rows = x.extent[0], columns = x.extent[1];
  const float count = static_cast<float>(columns);

  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    float sum = 0;
    for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) sum += wf::to_float(x(row, j));
    const float mean = block_sum(sum, buffer) / count;
    float squares = 0;
    for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
      const float deviation = wf::to_float(x(row, j)) - mean;
      squares += deviation * deviation;
    }
    const float inverse = rsqrtf(block_sum(squares, buffer) / count + eps);
    if (threadIdx.x == 0) stats[row] = make_float2(mean, inverse);

    float sum_g = 0, sum_gd = 0;
    for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
      const float g = wf::to_float(dy(row, j)) * wf::to_float(weight(j));
      sum_g += g;
      sum_gd += g * ((wf::to_float(x(row, j)) - mean) * inverse);
    }
    const float mean_g = block_sum(sum_g, buffer) / count;
    const float mean_gd = block_sum(sum_gd, buffer) / count;
    for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
      const float g = wf::to_float(dy(row, j)) * wf::to_float(weight(j));
      const float d = (wf::to_float(x(row, j)) - mean) * inverse;
      dx(row, j) = wf::from_float<U>((g - mean_g - d * mean_gd) * inverse);
    }
  }
}

template <class T, class W>
__global__ void column_sums(wf::View<const T, 2> dy, wf::View<const T, 2> x, const float2* stats,
                            W* dweight, W* dbias) {
  const int64_t j = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (j >= x.extent[1]) return;
  float weight = 0, bias = 0;
  for (int64_t row = 0; row < x.extent[0]; ++row) {
    const float g = wf::to_float(dy(row, j));
    weight += g * ((wf::to_float(x(row, j)) - stats[row].x) * stats[row].y);
    bias += g;
  }
  dweight[j] = wf::from_float<W>(weight);
  dbias[j] = wf::from_float<W>(bias);
}

WARPFUZZ_WORKSPACE() { return sizeof(float2) * static_cast<uint64_t>(call.input(1).extent(0)); }

WARPFUZZ_KERNEL("") {
  const auto dy = call.input(0), x = call.input(1), weight = call.input(2), dx = call.output(0);
  const auto dweight = call.output(1), dbias = call.output(2);
  if (x.extent(1) == 0) return WF_OK;
  float2* stats = call.workspace<float2>();
  const float eps = static_cast<float>(call.real("eps"));
  unsigned threads = 1;
  while (threads < max_threads && threads < x.extent(1)) threads *= 2;
  return wf::dispatch<wf::Types<float, float, float>, wf::Types<float, float, __half>,
                      wf::Types<__half, __half, __half>, wf::Types<__half, float, __half>,
                      wf::Types<__half, __half, float>,
                      wf::Types<__nv_bfloat16, __nv_bfloat16, __nv_bfloat16>,
                      wf::Types<__nv_bfloat16, float, __nv_bfloat16>,
                      wf::Types<__nv_bfloat16, __nv_bfloat16, float>>(
      x, weight, dx, [&](auto t, auto w, auto u) {
        using T = decltype(t);
        using W = decltype(w);
        using U = decltype(u);
        if (dx.size() > 0) {  // without rows the sums still are 0
          layernorm_backward<T, W, U><<<wf::blocks(x.extent(0), 1), threads, 0, call.stream()>>>(
              dy.view<const T, 2>(), x.view<const T, 2>(), weight.view<const W, 1>(),
              dx.view<U, 2>(), stats, eps);
        }
        column_sums<T, W><<<wf::blocks(x.extent(1), 64), 64, 0, call.stream()>>>(
            dy.view<const T, 2>(), x.view<const T, 2>(), stats, dweight.data<W>(), dbias.data<W>());
        return call.launched();
      });
}
