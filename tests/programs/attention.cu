// Attention, forward, as FlashAttention does it: tiles of keys and values in shared memory, online
// softmax, causal or not, grouped query heads, a half-precision variant of the inputs.
#include <cuda_fp16.h>

#include "check.h"

constexpr int tile_rows = 16;     // queries per block
constexpr int tile_columns = 32;  // keys per step
constexpr int max_depth = 64;

template <class T>
__device__ float load(const T* p) {
  return static_cast<float>(*p);
}
template <>
__device__ float load<__half>(const __half* p) {
  return __half2float(*p);
}

struct Shape {
  int queries, keys, heads, key_heads, depth;
  bool causal;
};

// q [heads][queries][depth], k and v [key_heads][keys][depth]; 16 x 8 threads.
template <class T>
__global__ void attention(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v,
                          float* __restrict__ out, Shape s) {
  __shared__ float keys[tile_columns][max_depth + 1], values[tile_columns][max_depth];
  __shared__ float scores[tile_rows][tile_columns];
  const int head = blockIdx.y, key_head = head / (s.heads / s.key_heads);
  const int row = blockIdx.x * tile_rows + threadIdx.y;
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
  const float scale = rsqrtf(static_cast<float>(s.depth));
  const T* query = q + (static_cast<size_t>(head) * s.queries + row) * s.depth;

  float accumulated[max_depth / 8] = {};
  float maximum = -INFINITY, sum = 0;
  const int last_key =
      s.causal ? min(s.keys, (blockIdx.x + 1) * tile_rows + s.keys - s.queries) : s.keys;
  for (int first = 0; first < last_key; first += tile_columns) {
    for (int i = thread; i < tile_columns * s.depth; i += threads) {
      const int key = first + i / s.depth, d = i % s.depth;
      const size_t at = (static_cast<size_t>(key_head) * s.keys + key) * s.depth + d;
      keys[i / s.depth][d] = key < s.keys ? load(&k[at]) : 0.0f;
      values[i / s.depth][d] = key < s.keys ? load(&v[at]) : 0.0f;
    }
    __syncthreads();
    if (row < s.queries) {
      for (int j = threadIdx.x; j < tile_columns; j += blockDim.x) {
        const int key = first + j;
        const bool visible = key < s.keys && (!s.causal || key <= row + s.keys - s.queries);
        float dot = 0;
        for (int d = 0; d < s.depth; ++d) dot = fmaf(load(&query[d]), keys[j][d], dot);
        scores[threadIdx.y][j] = visible ? dot * scale : -INFINITY;
      }
    }
    __syncthreads();
    if (row < s.queries) {
      float tile_maximum = maximum;
      for (int j = 0; j < tile_columns; ++j)
        tile_maximum = fmaxf(tile_maximum, scores[threadIdx.y][j]);
      if (tile_maximum > -INFINITY) {
        const float correction = __expf(maximum - tile_maximum);
        sum *= correction;
        for (float& a : accumulated) a *= correction;
        for (int j = 0; j < tile_columns; ++j) {
          const float p = __expf(scores[threadIdx.y][j] - tile_maximum);
          sum += p;
          int slot = 0;
          for (int d = threadIdx.x; d < s.depth; d += 8) accumulated[slot++] += p * values[j][d];
        }
        maximum = tile_maximum;
      }
    }
    __syncthreads();
  }
  if (row >= s.queries) return;
  int slot = 0;
  for (int d = threadIdx.x; d < s.depth; d += 8) {
    out[(static_cast<size_t>(head) * s.queries + row) * s.depth + d] =
        sum > 0 ? accumulated[slot] / sum : 0.0f;
    ++slot;
  }
}

template <class T>
std::vector<T> convert(const std::vector<float>& values) {
  std::vector<T> result;
  for (const float value : values) result.push_back(T(value));
  return result;
}

template <class T>
void test(const Shape& s, double tolerance) {
  Numbers numbers(s.queries + 7 * s.keys);
  const std::vector<float> q = numbers.vector(size_t(s.heads) * s.queries * s.depth, 2),
                           k = numbers.vector(size_t(s.key_heads) * s.keys * s.depth, 2),
                           v = numbers.vector(size_t(s.key_heads) * s.keys * s.depth);
  const Buffer<float> out(q.size());
  attention<T><<<dim3((s.queries + tile_rows - 1) / tile_rows, s.heads), dim3(8, tile_rows)>>>(
      Buffer<T>(convert<T>(q)), Buffer<T>(convert<T>(k)), Buffer<T>(convert<T>(v)), out, s);
  CHECK_CUDA(cudaGetLastError());
  std::vector<double> expected(q.size());
  for (int head = 0; head < s.heads; ++head) {
    const int key_head = head / (s.heads / s.key_heads);
    for (int row = 0; row < s.queries; ++row) {
      std::vector<double> weight(s.keys);
      double largest = -INFINITY, sum = 0;
      const size_t query = (size_t(head) * s.queries + row) * s.depth;
      const int visible = s.causal ? std::max(0, row + s.keys - s.queries + 1) : s.keys;
      for (int key = 0; key < visible && key < s.keys; ++key) {
        for (int d = 0; d < s.depth; ++d) {
          weight[key] += double(q[query + d]) * k[(size_t(key_head) * s.keys + key) * s.depth + d];
        }
        weight[key] /= std::sqrt(double(s.depth));
        largest = std::fmax(largest, weight[key]);
      }
      for (int key = 0; key < visible && key < s.keys; ++key)
        sum += weight[key] = std::exp(weight[key] - largest);
      for (int key = 0; key < visible && key < s.keys; ++key) {
        for (int d = 0; d < s.depth; ++d) {
          expected[query + d] +=
              weight[key] / sum * v[(size_t(key_head) * s.keys + key) * s.depth + d];
        }
      }
    }
  }
  CHECK(close_to(out.host(), expected, tolerance));
}

int main() {
  test<float>({33, 33, 2, 2, 16, true}, 1e-5);
  test<float>({5, 70, 4, 2, 40, false}, 1e-5);
  test<float>({20, 9, 1, 1, 64, true}, 1e-5);  // the first rows see no key
  test<__half>({17, 31, 2, 1, 32, false}, 2e-3);
  std::printf("attention: %d failed\n", failed_checks);
  return failed_checks;
}
