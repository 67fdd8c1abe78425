// Scaled dot-product attention: scores in the workspace, softmax of each row, then the mean of v.
// Planted fault: a causal mask of 0 and -inf is added to all scores of a row, also to those that
// nobody computed: NaN + -inf is NaN.
#include "warpfuzz_kernel.hpp"

constexpr int threads_per_block = 128;

// Keys that query `row` of m sees among n: all, or under a causal mask those up to its own place
// counted from the end.
__device__ int64_t visible_keys(int64_t row, int64_t m, int64_t n, bool causal) {
  if (!causal) return n;
  const int64_t count = row + n - m + 1;
  return count < 0 ? 0 : count < n ? count : n;
}

template <class T>
__global__ void scores(wf::View<const T, 3> q, wf::View<const T, 3> k, float* s, bool causal) {
  const int64_t heads = q.extent[0], m = q.extent[1], n = k.extent[1], depth = q.extent[2];
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= heads * m * n) return;
  const int64_t head = i / (m * n), row = i / n % m, key = i % n;
  if (key >= visible_keys(row, m, n, causal)) return;
  float dot = 0;
  for (int64_t c = 0; c < depth; ++c) {
    dot += wf::to_float(q(head, row, c)) * wf::to_float(k(head, key, c));
  }
  s[i] = dot * (1.0f / sqrtf(static_cast<float>(depth)));
}

__global__ void softmax_rows(float* s, int64_t heads, int64_t m, int64_t n, bool causal) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= heads * m) return;
  float* row = s + i * n;
  const int64_t keys = visible_keys(i % m, m, n, causal);
  float maximum = -INFINITY;
  for (int64_t j = 0; j < n; ++j) {
    row[j] += j < keys ? 0.0f : -INFINITY;
    maximum = fmaxf(maximum, row[j]);
  }
  float sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    row[j] = expf(row[j] - maximum);
    sum += row[j];
  }
  for (int64_t j = 0; j < keys; ++j) row[j] /= sum;
}

template <class T, class U>
__global__ void weighted_values(const float* s, wf::View<const T, 3> v, wf::View<U, 3> o,
                                bool causal) {
  const int64_t heads = o.extent[0], m = o.extent[1], depth = o.extent[2], n = v.extent[1];
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= heads * m * depth) return;
  const int64_t head = i / (m * depth), row = i / depth % m, c = i % depth;
  const float* weights = s + (head * m + row) * n;
  const int64_t keys = visible_keys(row, m, n, causal);
  float acc = 0;  // stays 0 for a row that sees no key
  for (int64_t j = 0; j < keys; ++j) acc += weights[j] * wf::to_float(v(head, j, c));
  o(head, row, c) = wf::from_float<U>(acc);
}

WARPFUZZ_WORKSPACE() {
  const auto q = call.input(0), k = call.input(1);
  if (q.size() == 0) return 0;
  return sizeof(float) * static_cast<uint64_t>(q.extent(0) * q.extent(1) * k.extent(1));
}

WARPFUZZ_KERNEL("") {
  const auto q = call.input(0), k = call.input(1), v = call.input(2), o = call.output(0);
  if (o.size() == 0) return WF_OK;
  const bool causal = call.integer("causal") != 0;
  const int64_t heads = q.extent(0), m = q.extent(1), n = k.extent(1);
  float* s = call.workspace<float>();
  return wf::dispatch(q, o, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    if (n > 0) {
      scores<T>
          <<<wf::blocks(heads * m * n, threads_per_block), threads_per_block, 0, call.stream()>>>(
              q.view<const T, 3>(), k.view<const T, 3>(), s, causal);
      softmax_rows<<<wf::blocks(heads * m, threads_per_block), threads_per_block, 0,
                     call.stream()>>>(s, heads, m, n, causal);
    }
    weighted_values<T, U>
        <<<wf::blocks(o.size(), threads_per_block), threads_per_block, 0, call.stream()>>>(
            s, v.view<const T, 3>(), o.view<U, 3>(), causal);
    return call.launched();
  });
}
