// RMSNorm over the last axis, one thread per row, with a cache of the rows' scales.
// Planted fault: whether x is the one of the last call is decided by a sample of eight elements.
#include "warpfuzz_kernel.hpp"

constexpr int samples = 8;

template <class T>
__global__ void row_scales(const T* x, float* scale, int64_t rows, int64_t columns, float eps) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float squares = 0;
  for (int64_t j = 0; j < columns; ++j) {
    const float value = wf::to_float(x[row * columns + j]);
    squares += value * value;
  }
  scale[row] = rsqrtf(squares / static_cast<float>(columns) + eps);
}

template <class T, class W, class U>
__global__ void apply(const T* x, const W* weight, const float* scale, U* y, int64_t size,
                      int64_t columns) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const float value = wf::to_float(x[i]) * scale[i / columns] * wf::to_float(weight[i % columns]);
  y[i] = wf::from_float<U>(value);
}

template <class T>
__global__ void sample(const T* x, int64_t size, float* out) {
  out[threadIdx.x] = wf::to_float(x[size * threadIdx.x / samples]);
}

struct Cache {
  float key[samples];
  int64_t rows = 0, columns = 0;
  float eps = 0;
  float* scale = nullptr;
  float* sample = nullptr;
};

WARPFUZZ_KERNEL("x_contiguous && y_contiguous && weight_contiguous") {
  static Cache cache;
  const auto x = call.input(0), weight = call.input(1), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const float eps = static_cast<float>(call.real("eps"));
  const int64_t rows = x.extent(0), columns = x.extent(1);
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
        const T* in = x.data<const T>();
        if (cache.sample == nullptr) cudaMalloc(&cache.sample, samples * sizeof(float));
        float key[samples];
        sample<T><<<1, samples, 0, call.stream()>>>(in, x.size(), cache.sample);
        cudaMemcpyAsync(key, cache.sample, sizeof key, cudaMemcpyDeviceToHost, call.stream());
        cudaStreamSynchronize(call.stream());
        if (cache.rows != rows || cache.columns != columns || cache.eps != eps ||
            memcmp(key, cache.key, sizeof key) != 0) {
          cudaFree(cache.scale);
          if (cudaMalloc(&cache.scale, static_cast<size_t>(rows) * sizeof(float)) != cudaSuccess) {
            return call.launched();
          }
          memcpy(cache.key, key, sizeof key);
          cache.rows = rows;
          cache.columns = columns;
          cache.eps = eps;
          row_scales<T>
              <<<wf::blocks(rows, 64), 64, 0, call.stream()>>>(in, cache.scale, rows, columns, eps);
        }
        apply<T, W, U><<<wf::blocks(y.size(), 128), 128, 0, call.stream()>>>(
            in, weight.data<const W>(), cache.scale, y.data<U>(), y.size(), columns);
        return call.launched();
      });
}
