// Scaled dot-product attention, contiguous tensors: one thread per query, queries along the grid's
// x and heads along its z; running maximum and sum, the output kept in the workspace.
// Planted fault: a grid has at most 65,535 blocks along z, and the error of the launch is ignored.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void attention(const T* q, const T* k, const T* v, U* o, float* accumulators, int64_t m,
                          int64_t n, int64_t depth, bool causal) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= m) return;
  const int64_t query = blockIdx.z * m + row;
  const T* keys = k + blockIdx.z * n * depth;
  const T* values = v + blockIdx.z * n * depth;
  float* acc = accumulators + query * depth;
  for (int64_t c = 0; c < depth; ++c) acc[c] = 0;

  const int64_t visible = causal && row + n - m + 1 < n ? row + n - m + 1 : n;
  const float scale = 1.0f / sqrtf(static_cast<float>(depth));
  float maximum = -INFINITY, sum = 0;
  for (int64_t j = 0; j < visible; ++j) {
    float score = 0;
    for (int64_t c = 0; c < depth; ++c) {
      score += wf::to_float(q[query * depth + c]) * wf::to_float(keys[j * depth + c]);
    }
    score *= scale;
    const float raised = fmaxf(maximum, score);
    const float rescale = maximum == raised ? 1.0f : expf(maximum - raised);
    const float weight = score == -INFINITY ? 0.0f : expf(score - raised);
    maximum = raised;
    sum = sum * rescale + weight;
    for (int64_t c = 0; c < depth; ++c) {
      acc[c] = acc[c] * rescale + weight * wf::to_float(values[j * depth + c]);
    }
  }
  for (int64_t c = 0; c < depth; ++c) {
    o[query * depth + c] = wf::from_float<U>(visible <= 0 ? 0.0f : acc[c] / sum);
  }
}

WARPFUZZ_WORKSPACE() { return sizeof(float) * static_cast<uint64_t>(call.output(0).size()); }

WARPFUZZ_KERNEL("q_contiguous && k_contiguous && v_contiguous && o_contiguous") {
  const auto q = call.input(0), k = call.input(1), v = call.input(2), o = call.output(0);
  if (o.size() == 0) return WF_OK;
  const dim3 grid(wf::blocks(q.extent(1), 32), 1, wf::blocks(q.extent(0), 1));
  return wf::dispatch(q, o, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    attention<T, U>
        <<<grid, 32, 0, call.stream()>>>(q.data<const T>(), k.data<const T>(), v.data<const T>(),
                                         o.data<U>(), call.workspace<float>(), q.extent(1),
                                         k.extent(1), q.extent(2), call.integer("causal") != 0);
    return WF_OK;
  });
}
