// Gated delta rule, step by step: one thread per column of the state, which lies in the workspace.
// Planted fault: the state is rounded to bfloat16 after each step.
#include "warpfuzz_kernel.hpp"

template <class T, class U>
__global__ void gated_delta(wf::View<const T, 3> q, wf::View<const T, 3> k, wf::View<const T, 3> v,
                            wf::View<const float, 2> alpha, wf::View<const float, 2> beta,
                            wf::View<U, 3> o, float* states) {
  const int64_t steps = q.extent[1], depth = q.extent[2], columns = v.extent[2];
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= v.extent[0] * columns) return;
  const int64_t head = i / columns, j = i % columns;
  float* state = states + i * depth;
  for (int64_t d = 0; d < depth; ++d) state[d] = 0;
  for (int64_t t = 0; t < steps; ++t) {
    const float decay = alpha(head, t);
    float read = 0;
    for (int64_t d = 0; d < depth; ++d) {
      state[d] *= decay;
      read += wf::to_float(k(head, t, d)) * state[d];
    }
    const float write = beta(head, t) * (wf::to_float(v(head, t, j)) - read);
    float out = 0;
    for (int64_t d = 0; d < depth; ++d) {
      state[d] =
          __bfloat162float(__float2bfloat16_rn(state[d] + wf::to_float(k(head, t, d)) * write));
      out += wf::to_float(q(head, t, d)) * state[d];
    }
    o(head, t, j) = wf::from_float<U>(out);
  }
}

WARPFUZZ_WORKSPACE() {
  const auto k = call.input(1), v = call.input(2);
  return sizeof(float) * static_cast<uint64_t>(v.extent(0) * v.extent(2) * k.extent(2));
}

WARPFUZZ_KERNEL("") {
  const auto q = call.input(0), k = call.input(1), v = call.input(2), o = call.output(0);
  if (o.size() == 0) return WF_OK;
  return wf::dispatch(q, o, [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    gated_delta<T, U><<<wf::blocks(v.extent(0) * v.extent(2), 32), 32, 0, call.stream()>>>(
        q.view<const T, 3>(), k.view<const T, 3>(), v.view<const T, 3>(),
        call.input(3).view<const float, 2>(), call.input(4).view<const float, 2>(), o.view<U, 3>(),
        call.workspace<float>());
    return call.launched();
  });
}
