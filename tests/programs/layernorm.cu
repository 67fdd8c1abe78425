// Layer normalisation, forward and backward, as a training loop uses it: mean and reciprocal
// standard deviation are kept for the backward pass, and the gradients of weight and bias are
// summed over rows in two steps, so that they do not depend on the order of atomics.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.h"

namespace cg = cooperative_groups;

// One warp per row.
__global__ void layernorm_forward(const float* __restrict__ x, const float* __restrict__ weight,
                                  const float* __restrict__ bias, float* __restrict__ y,
                                  float* __restrict__ mean, float* __restrict__ rstd, int rows,
                                  int columns) {
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
  if (row >= rows) return;
  const float* in = x + row * columns;
  float sum = 0;
  for (int i = warp.thread_rank(); i < columns; i += 32) sum += in[i];
  const float m = cg::reduce(warp, sum, cg::plus<float>()) / columns;
  sum = 0;
  for (int i = warp.thread_rank(); i < columns; i += 32) sum += (in[i] - m) * (in[i] - m);
  const float r = rsqrtf(cg::reduce(warp, sum, cg::plus<float>()) / columns + 1e-5f);
  for (int i = warp.thread_rank(); i < columns; i += 32) {
    __stcs(&y[row * columns + i], (in[i] - m) * r * weight[i] + bias[i]);
  }
  if (warp.thread_rank() == 0) {
    mean[row] = m;
    rstd[row] = r;
  }
}

// dx; one block per row.
__global__ void layernorm_backward_input(const float* dy, const float* x, const float* weight,
                                         const float* mean, const float* rstd, float* dx,
                                         int columns) {
  extern __shared__ float shared[];  // two sums per warp
  const int row = blockIdx.x, warps = blockDim.x / 32;
  const float m = mean[row], r = rstd[row];
  float sum = 0, dot = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    const float g = dy[row * columns + i] * weight[i];
    sum += g;
    dot += g * (x[row * columns + i] - m) * r;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
    dot += __shfl_down_sync(0xffffffffu, dot, offset);
  }
  if (threadIdx.x % 32 == 0) {
    shared[threadIdx.x / 32] = sum;
    shared[warps + threadIdx.x / 32] = dot;
  }
  __syncthreads();
  sum = dot = 0;
  for (int i = 0; i < warps; ++i) {
    sum += shared[i];
    dot += shared[warps + i];
  }
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    const float normalized = (x[row * columns + i] - m) * r;
    const float g = dy[row * columns + i] * weight[i];
    dx[row * columns + i] = r * (g - sum / columns - normalized * dot / columns);
  }
}

// Each block sums a part of the rows for 32 columns; the second kernel adds the parts.
__global__ void layernorm_backward_parameters(const float* dy, const float* x, const float* mean,
                                              const float* rstd, float* partial, int rows,
                                              int columns) {
  __shared__ float weights[8][33], biases[8][33];
  const int column = blockIdx.x * 32 + threadIdx.x;
  float dweight = 0, dbias = 0;
  if (column < columns) {
    for (int row = blockIdx.y * 8 + threadIdx.y; row < rows; row += gridDim.y * 8) {
      const float g = dy[row * columns + column];
      dweight += g * (x[row * columns + column] - mean[row]) * rstd[row];
      dbias += g;
    }
  }
  weights[threadIdx.y][threadIdx.x] = dweight;
  biases[threadIdx.y][threadIdx.x] = dbias;
  __syncthreads();
  if (threadIdx.y != 0 || column >= columns) return;
  for (int i = 1; i < 8; ++i) {
    dweight += weights[i][threadIdx.x];
    dbias += biases[i][threadIdx.x];
  }
  partial[(blockIdx.y * 2) * columns + column] = dweight;
  partial[(blockIdx.y * 2 + 1) * columns + column] = dbias;
}
__global__ void add_parts(const float* partial, float* dweight, float* dbias, int parts,
                          int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  float w = 0, b = 0;
  for (int i = 0; i < parts; ++i) {
    w += partial[2 * i * columns + column];
    b += partial[(2 * i + 1) * columns + column];
  }
  dweight[column] = w;
  dbias[column] = b;
}

void test(int rows, int columns) {
  Numbers numbers(rows * 1000 + columns);
  const size_t n = size_t(rows) * columns;
  const std::vector<float> x = numbers.vector(n, 3), weight = numbers.vector(columns),
                           bias = numbers.vector(columns), dy = numbers.vector(n);
  const Buffer<float> dx_in(x), w(weight), b(bias), g(dy), y(n), mean(rows), rstd(rows), dx(n),
      dweight(columns), dbias(columns);
  layernorm_forward<<<(rows + 3) / 4, 128>>>(dx_in, w, b, y, mean, rstd, rows, columns);
  CHECK_CUDA(cudaGetLastError());
  layernorm_backward_input<<<rows, 96, 2 * 3 * sizeof(float)>>>(g, dx_in, w, mean, rstd, dx,
                                                                columns);
  CHECK_CUDA(cudaGetLastError());
  const int parts = 3;
  const Buffer<float> partial(2 * parts * columns);
  layernorm_backward_parameters<<<dim3((columns + 31) / 32, parts), dim3(32, 8)>>>(
      g, dx_in, mean, rstd, partial, rows, columns);
  add_parts<<<(columns + 63) / 64, 64>>>(partial, dweight, dbias, parts, columns);
  CHECK_CUDA(cudaDeviceSynchronize());

  std::vector<double> want_y(n), want_dx(n), want_dweight(columns), want_dbias(columns);
  for (int row = 0; row < rows; ++row) {
    const float* in = &x[size_t(row) * columns];
    const float* grad = &dy[size_t(row) * columns];
    double m = 0, v = 0, sum = 0, dot = 0;
    for (int i = 0; i < columns; ++i) m += in[i] / double(columns);
    for (int i = 0; i < columns; ++i) v += (in[i] - m) * (in[i] - m) / columns;
    const double r = 1 / std::sqrt(v + 1e-5);
    for (int i = 0; i < columns; ++i) {
      const double normalized = (in[i] - m) * r;
      want_y[size_t(row) * columns + i] = normalized * weight[i] + bias[i];
      sum += grad[i] * weight[i];
      dot += grad[i] * weight[i] * normalized;
      want_dweight[i] += grad[i] * normalized;
      want_dbias[i] += grad[i];
    }
    for (int i = 0; i < columns; ++i) {
      want_dx[size_t(row) * columns + i] =
          r * (grad[i] * weight[i] - sum / columns - (in[i] - m) * r * dot / columns);
    }
  }
  CHECK(close_to(y.host(), want_y, 2e-5));
  CHECK(close_to(dx.host(), want_dx, 2e-4));
  CHECK(close_to(dweight.host(), want_dweight, 1e-4));
  CHECK(close_to(dbias.host(), want_dbias, 1e-4));
}

int main() {
  test(1, 33);
  test(7, 100);
  test(18, 257);
  std::printf("layernorm: %d failed\n", failed_checks);
  return failed_checks;
}
