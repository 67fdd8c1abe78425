// Gradients of layernorm, one thread per row for dx and four per column for the others.
// Planted fault: the four threads of a column add to its sums without atomics.
#include "warpfuzz_kernel.hpp"

struct Statistics {
  float mean, inverse;
};
template <class T>
__device__ Statistics statistics(const T* x, int64_t columns, float eps) {
  const float count = static_cast<float>(columns);
  float mean = 0, squares = 0;
  for (int64_t j = 0; j < columns; ++j) mean += wf::to_float(x[j]);
  mean /= count;
  for (int64_t j = 0; j < columns; ++j) {
    const float deviation = wf::to_float(x[j]) - mean;
    squares += deviation * deviation;
  }
  return {mean, rsqrtf(squares / count + eps)};
}

template <class T, class U>
__global__ void input_gradient(const T* dy, const T* x, const T* weight, U* dx, Statistics* stats,
                               int64_t rows, int64_t columns, float eps) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += row * columns;
  dy += row * columns;
  const auto [mean, inverse] = stats[row] = statistics(x, columns, eps);
  const float count = static_cast<float>(columns);
  float sum_g = 0, sum_gd = 0;
  for (int64_t j = 0; j < columns; ++j) {
    const float g = wf::to_float(dy[j]) * wf::to_float(weight[j]);
    sum_g += g;
    sum_gd += g * ((wf::to_float(x[j]) - mean) * inverse);
  }
  for (int64_t j = 0; j < columns; ++j) {
    const float g = wf::to_float(dy[j]) * wf::to_float(weight[j]);
    const float d = (wf::to_float(x[j]) - mean) * inverse;
    dx[row * columns + j] = wf::from_float<U>((g - sum_g / count - d * (sum_gd / count)) * inverse);
  }
}

// Four threads per column, each with a quarter of the rows.
constexpr unsigned parts = 4;

template <class T>
__global__ void parameter_gradients(const T* dy, const T* x, const Statistics* stats, T* dweight,
                                    T* dbias, int64_t rows, int64_t columns) {
  __shared__ float sums[2][64];
  const unsigned lane = threadIdx.x, part = threadIdx.y;
  const int64_t j = static_cast<int64_t>(blockIdx.x) * blockDim.x + lane;
  if (part == 0) sums[0][lane] = sums[1][lane] = 0;
  __syncthreads();
  float weight = 0, bias = 0;
  for (int64_t row = part; row < rows && j < columns; row += parts) {
    const auto [mean, inverse] = stats[row];
    const float g = wf::to_float(dy[row * columns + j]);
    weight += g * ((wf::to_float(x[row * columns + j]) - mean) * inverse);
    bias += g;
  }
  sums[0][lane] += weight;
  sums[1][lane] += bias;
  __syncthreads();
  if (part > 0 || j >= columns) return;
  dweight[j] = wf::from_float<T>(sums[0][lane]);
  dbias[j] = wf::from_float<T>(sums[1][lane]);
}

WARPFUZZ_WORKSPACE() { return sizeof(Statistics) * static_cast<uint64_t>(call.input(1).extent(0)); }

WARPFUZZ_KERNEL("W == T && dy_contiguous && x_contiguous && weight_contiguous && dx_contiguous") {
  const auto dy = call.input(0), x = call.input(1), weight = call.input(2), dx = call.output(0);
  const int64_t rows = x.extent(0), columns = x.extent(1);
  const float eps = static_cast<float>(call.real("eps"));
  Statistics* stats = call.workspace<Statistics>();
  if (columns == 0) return WF_OK;
  return wf::dispatch(x, dx, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    if (rows > 0) {
      input_gradient<T, U><<<wf::blocks(rows, 64), 64, 0, call.stream()>>>(
          dy.data<const T>(), x.data<const T>(), weight.data<const T>(), dx.data<U>(), stats, rows,
          columns, eps);
    }
    parameter_gradients<T><<<wf::blocks(columns, 64), dim3(64, parts), 0, call.stream()>>>(
        dy.data<const T>(), x.data<const T>(), stats, call.output(1).data<T>(),
        call.output(2).data<T>(), rows, columns);
    return call.launched();
  });
}
