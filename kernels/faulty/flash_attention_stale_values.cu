// Scaled dot-product attention in one pass: tiles of keys and values in shared memory, one query
// per thread, running maximum and sum.
// Planted fault: all keys of a tile are weighed, those past the end with 0, but their rows of the
// values tile are never filled: 0 times a stale NaN is NaN.
#include "warpfuzz_kernel.hpp"

constexpr int tile_queries = 32;
constexpr int tile_keys = 32;
constexpr int max_depth = 128;

__device__ int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value < high ? value : high;
}

template <class T, class U>
__global__ void flash_attention(wf::View<const T, 3> q, wf::View<const T, 3> k,
                                wf::View<const T, 3> v, wf::View<U, 3> o, int64_t tiles,
                                bool causal) {
  extern __shared__ float shared[];
  const int64_t m = q.extent[1], n = k.extent[1];
  const int depth = static_cast<int>(q.extent[2]);
  float* keys = shared;
  float* values = shared + tile_keys * depth;

  const int64_t head = blockIdx.x / tiles;
  const int64_t row = blockIdx.x % tiles * tile_queries + threadIdx.x;
  const int64_t last_row = clamp((blockIdx.x % tiles + 1) * tile_queries, 0, m) - 1;
  // Keys that this thread's query sees, and those that the block's last query sees.
  const int64_t visible = row >= m ? 0 : causal ? clamp(row + n - m + 1, 0, n) : n;
  const int64_t needed = causal ? clamp(last_row + n - m + 1, 0, n) : n;
  const float scale = 1.0f / sqrtf(static_cast<float>(depth));

  float query[max_depth], acc[max_depth];
  for (int c = 0; c < depth; ++c) {
    query[c] = row < m ? wf::to_float(q(head, row, c)) : 0.0f;
    acc[c] = 0;
  }
  float maximum = -INFINITY, sum = 0;

  for (int64_t start = 0; start < needed; start += tile_keys) {
    const int loaded = static_cast<int>(clamp(n - start, 0, tile_keys));
    for (int i = threadIdx.x; i < loaded * depth; i += blockDim.x) {
      keys[i] = wf::to_float(k(head, start + i / depth, i % depth));
      values[i] = wf::to_float(v(head, start + i / depth, i % depth));
    }
    __syncthreads();

    const int count = static_cast<int>(clamp(visible - start, 0, tile_keys));
    float scores[tile_keys];
    float raised = maximum;
    for (int j = 0; j < count; ++j) {
      float dot = 0;
      for (int c = 0; c < depth; ++c) dot += query[c] * keys[j * depth + c];
      scores[j] = dot * scale;
      raised = fmaxf(raised, scores[j]);
    }
    const float rescale = maximum == raised ? 1.0f : expf(maximum - raised);
    maximum = raised;
    sum *= rescale;
    for (int c = 0; c < depth; ++c) acc[c] *= rescale;
    for (int j = count; j < tile_keys; ++j) scores[j] = -INFINITY;
    for (int j = 0; j < tile_keys; ++j) {
      const float weight = scores[j] == -INFINITY ? 0.0f : expf(scores[j] - maximum);
      sum += weight;
      for (int c = 0; c < depth; ++c) acc[c] += weight * values[j * depth + c];
    }
    __syncthreads();
  }
  if (row >= m) return;
  for (int c = 0; c < depth; ++c) {
    o(head, row, c) = wf::from_float<U>(visible == 0 ? 0.0f : acc[c] / sum);
  }
}

WARPFUZZ_KERNEL("d <= 128") {
  const auto q = call.input(0), k = call.input(1), v = call.input(2), o = call.output(0);
  const int64_t depth = q.extent(2);
  if (depth > max_depth) return WF_UNSUPPORTED;
  if (o.size() == 0) return WF_OK;
  const bool causal = call.integer("causal") != 0;
  const int64_t tiles = (q.extent(1) + tile_queries - 1) / tile_queries;
  const size_t shared_bytes = 2 * tile_keys * static_cast<size_t>(depth) * sizeof(float);
  return wf::dispatch(q, o, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    flash_attention<T, U>
        <<<wf::blocks(q.extent(0) * tiles, 1), tile_queries, shared_bytes, call.stream()>>>(
            q.view<const T, 3>(), k.view<const T, 3>(), v.view<const T, 3>(), o.view<U, 3>(), tiles,
            causal);
    return call.launched();
  });
}
