// Gated delta rule in chunks of 8 steps: products of keys and queries within a chunk, solved by
// forward substitution; the state moves on once per chunk. One thread per column of the state.
// Planted fault: the decay between two steps is the quotient of the products of alpha up to them,
// which is 0 / 0 where these underflow.
#include "warpfuzz_kernel.hpp"

constexpr int64_t chunk = 8;

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
  float write[chunk], decayed[chunk];  // per step of the chunk: what it wrote, alpha's product
  for (int64_t begin = 0; begin < steps; begin += chunk) {
    const int64_t width = steps - begin < chunk ? steps - begin : chunk;
    float decay = 1;  // of the state before the chunk
    for (int64_t s = 0; s < width; ++s) {
      const int64_t t = begin + s;
      decay *= alpha(head, t);
      float read = 0, out = 0;
      for (int64_t d = 0; d < depth; ++d) read += wf::to_float(k(head, t, d)) * state[d];
      for (int64_t d = 0; d < depth; ++d) out += wf::to_float(q(head, t, d)) * state[d];
      read *= decay;
      out *= decay;
      for (int64_t e = 0; e < s; ++e) {
        float keys = 0, query = 0;
        for (int64_t d = 0; d < depth; ++d) {
          const float key = wf::to_float(k(head, begin + e, d));
          keys += wf::to_float(k(head, t, d)) * key;
          query += wf::to_float(q(head, t, d)) * key;
        }
        read += decay / decayed[e] * keys * write[e];
        out += decay / decayed[e] * query * write[e];
      }
      write[s] = beta(head, t) * (wf::to_float(v(head, t, j)) - read);
      decayed[s] = decay;
      float own = 0;
      for (int64_t d = 0; d < depth; ++d) {
        own += wf::to_float(q(head, t, d)) * wf::to_float(k(head, t, d));
      }
      o(head, t, j) = wf::from_float<U>(out + own * write[s]);
    }
    for (int64_t d = 0; d < depth; ++d) {
      float sum = decay * state[d];
      for (int64_t e = 0; e < width; ++e) {
        sum += decay / decayed[e] * write[e] * wf::to_float(k(head, begin + e, d));
      }
      state[d] = sum;
    }
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
