// Steps of a training loop: fused softmax and cross-entropy with its gradient, AdamW with the norm
// of the gradients clipped, on vectors of four where they fit.
#include "check.h"

__device__ float block_reduce(float value, bool maximum, float* shared) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, offset);
    value = maximum ? fmaxf(value, other) : value + other;
  }
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = shared[0];
  for (unsigned i = 1; i < blockDim.x / 32; ++i) {
    value = maximum ? fmaxf(value, shared[i]) : value + shared[i];
  }
  __syncthreads();
  return value;
}

// One block per row; labels of -1 are ignored. dlogits may be logits.
__global__ void cross_entropy(const float* logits, const int* labels, float* losses, float* dlogits,
                              int classes, int stride, float gradient) {
  __shared__ float shared[32];
  const float* row = logits + static_cast<size_t>(blockIdx.x) * stride;
  float* out = dlogits + static_cast<size_t>(blockIdx.x) * stride;
  const int label = labels[blockIdx.x];
  float maximum = -INFINITY;
  for (int i = threadIdx.x; i < classes; i += blockDim.x) maximum = fmaxf(maximum, row[i]);
  maximum = block_reduce(maximum, true, shared);
  float sum = 0;
  for (int i = threadIdx.x; i < classes; i += blockDim.x) sum += expf(row[i] - maximum);
  sum = block_reduce(sum, false, shared);
  if (threadIdx.x == 0) losses[blockIdx.x] = label < 0 ? 0 : logf(sum) + maximum - row[label];
  __syncthreads();  // before the logits are overwritten
  for (int i = threadIdx.x; i < stride; i += blockDim.x) {
    const float p = i < classes && label >= 0 ? expf(row[i] - maximum) / sum : 0;
    out[i] = gradient * (p - (i == label && label >= 0));
  }
}

void test_cross_entropy(int rows, int classes, int stride) {
  Numbers numbers(classes);
  std::vector<float> logits = numbers.vector(size_t(rows) * stride, 10);
  std::vector<int> labels(rows);
  for (int i = 0; i < rows; ++i) labels[i] = i % 4 == 3 ? -1 : i * 31 % classes;
  const Buffer<float> device(logits), losses(rows);
  cross_entropy<<<rows, 64>>>(device, Buffer<int>(labels), losses, device, classes, stride, 0.5f);
  CHECK_CUDA(cudaGetLastError());
  std::vector<double> want_losses(rows), want_gradient(logits.size());
  for (int row = 0; row < rows; ++row) {
    if (labels[row] < 0) continue;
    const float* in = &logits[size_t(row) * stride];
    double largest = in[0], sum = 0;
    for (int i = 1; i < classes; ++i) largest = std::fmax(largest, in[i]);
    for (int i = 0; i < classes; ++i) sum += std::exp(in[i] - largest);
    want_losses[row] = std::log(sum) + largest - in[labels[row]];
    for (int i = 0; i < classes; ++i) {
      want_gradient[size_t(row) * stride + i] =
          0.5 * (std::exp(in[i] - largest) / sum - (i == labels[row]));
    }
  }
  CHECK(close_to(losses.host(), want_losses, 1e-5));
  CHECK(close_to(device.host(), want_gradient, 1e-5));
}

// The sum of squares in two launches: parts of blocks, then one block over the parts.
__global__ void sum_of_squares(const float* in, float* parts, int n) {
  __shared__ float shared[32];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += in[i] * in[i];
  }
  sum = block_reduce(sum, false, shared);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}
__global__ void clip_factor(const float* parts, int count, float most, float* factor) {
  __shared__ float shared[32];
  const float sum = block_reduce(threadIdx.x < count ? parts[threadIdx.x] : 0, false, shared);
  if (threadIdx.x == 0) *factor = fminf(1, most / (sqrtf(sum) + 1e-6f));
}

struct Adam {
  float rate, beta1, beta2, epsilon, decay, correction1, correction2;
};
__device__ void adam_step(float& p, float gradient, float& m, float& v, const Adam& a) {
  m = a.beta1 * m + (1 - a.beta1) * gradient;
  v = a.beta2 * v + (1 - a.beta2) * gradient * gradient;
  p -= a.rate * ((m / a.correction1) / (sqrtf(v / a.correction2) + a.epsilon) + a.decay * p);
}
__global__ void __launch_bounds__(128)
    adamw(float* p, const float* g, float* m, float* v, const float* factor, int n, Adam a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float scale = *factor;
  if (4 * i + 3 < n) {
    float4 p4 = reinterpret_cast<float4*>(p)[i], m4 = reinterpret_cast<float4*>(m)[i];
    float4 v4 = reinterpret_cast<float4*>(v)[i];
    const float4 g4 = reinterpret_cast<const float4*>(g)[i];
    adam_step(p4.x, g4.x * scale, m4.x, v4.x, a);
    adam_step(p4.y, g4.y * scale, m4.y, v4.y, a);
    adam_step(p4.z, g4.z * scale, m4.z, v4.z, a);
    adam_step(p4.w, g4.w * scale, m4.w, v4.w, a);
    reinterpret_cast<float4*>(p)[i] = p4;
    reinterpret_cast<float4*>(m)[i] = m4;
    reinterpret_cast<float4*>(v)[i] = v4;
  } else {
    for (int j = 4 * i; j < n; ++j) adam_step(p[j], g[j] * scale, m[j], v[j], a);
  }
}

void test_adamw(int n) {
  Numbers numbers(n);
  std::vector<float> p = numbers.vector(n), g = numbers.vector(n, 0.3f);
  std::vector<double> want_p(p.begin(), p.end()), m(n), v(n);
  const Buffer<float> dp(p), dg(g), dm(std::vector<float>(n, 0)), dv(std::vector<float>(n, 0)),
      parts(7), factor(1);
  double square = 0;
  for (const float gradient : g) square += double(gradient) * gradient;
  const double clip = std::fmin(1, 1 / (std::sqrt(square) + 1e-6));
  for (int step = 1; step <= 3; ++step) {
    const Adam a = {0.01f,
                    0.9f,
                    0.99f,
                    1e-8f,
                    0.1f,
                    float(1 - std::pow(0.9, step)),
                    float(1 - std::pow(0.99, step))};
    sum_of_squares<<<7, 64>>>(dg, parts, n);
    clip_factor<<<1, 32>>>(parts, 7, 1.0f, factor);
    adamw<<<(n + 511) / 512, 128>>>(dp, dg, dm, dv, factor, n, a);
    for (int i = 0; i < n; ++i) {
      const double gradient = clip * g[i];
      m[i] = 0.9 * m[i] + 0.1 * gradient;
      v[i] = 0.99 * v[i] + 0.01 * gradient * gradient;
      want_p[i] -= 0.01 * (m[i] / a.correction1 / (std::sqrt(v[i] / a.correction2) + 1e-8) +
                           0.1 * want_p[i]);
    }
  }
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(close_to(dp.host(), want_p, 1e-5));
}

int main() {
  test_cross_entropy(6, 100, 128);
  test_cross_entropy(3, 7, 7);
  test_adamw(1000);
  test_adamw(1027);
  std::printf("training: %d failed\n", failed_checks);
  return failed_checks;
}
