// Scaled dot-product attention, one thread per query, scores in the workspace, contiguous tensors.
// Planted fault: under a causal mask each query also sees the key after its own.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void attention(const T* q, const T* k, const T* v, U* o, float* workspace,
                          int64_t queries, int64_t m, int64_t n, int64_t d, bool causal) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= queries) return;
  const int64_t head = i / m, row = i % m;
  const T* query = q + i * d;
  const T* head_keys = k + head * n * d;
  const T* head_values = v + head * n * d;
  float* scores = workspace + i * n;

  // Under a causal mask a query sees the keys up to its own place counted from the end.
  int64_t keys = n;
  if (causal) {
    const int64_t last = row + n - m + 1;
    keys = last < 0 ? 0 : last + 1 < n ? last + 1 : n;
  }
  const float scale = 1.0f / sqrtf(static_cast<float>(d));

  float maximum = -INFINITY;
  for (int64_t j = 0; j < keys; ++j) {
    float dot = 0;
    for (int64_t c = 0; c < d; ++c) {
      dot += wf::to_float(query[c]) * wf::to_float(head_keys[j * d + c]);
    }
    scores[j] = dot * scale;
    maximum = fmaxf(maximum, scores[j]);
  }
  float sum = 0;
  for (int64_t j = 0; j < keys; ++j) {
    scores[j] = expf(scores[j] - maximum);
    sum += scores[j];
  }
  for (int64_t c = 0; c < d; ++c) {
    float acc = 0;
    for (int64_t j = 0; j < keys; ++j) acc += scores[j] * wf::to_float(head_values[j * d + c]);
    o[i * d + c] = wf::from_float<U>(keys == 0 ? 0.0f : acc / sum);
  }
}

WARPFUZZ_WORKSPACE() {
  const auto q = call.input(0), k = call.input(1);
  return sizeof(float) * static_cast<uint64_t>(q.extent(0) * q.extent(1) * k.extent(1));
}

WARPFUZZ_KERNEL("q_contiguous && k_contiguous && v_contiguous && o_contiguous") {
  const auto q = call.input(0), k = call.input(1), v = call.input(2), o = call.output(0);
  if (o.size() == 0) return WF_OK;
  const bool causal = call.integer("causal") != 0;
  const int64_t m = q.extent(1), n = k.extent(1), d = q.extent(2), queries = q.extent(0) * m;
  return wf::dispatch(q, o, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    attention<T, U><<<wf::blocks(queries, 64), 64, 0, call.stream()>>>(
        q.data<const T>(), k.data<const T>(), v.data<const T>(), o.data<U>(),
        call.workspace<float>(), queries, m, n, d, causal);
    return call.launched();
  });
}
