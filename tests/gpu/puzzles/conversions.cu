// Not a ReLU: every conversion between float and the small formats, chosen by the column, so that
// both devices can be compared bit for bit. Where input and output have the same type, arithmetic
// of that type.
#include "warpfuzz_kernel.hpp"

__device__ inline void convert(float x, float& y, int64_t which) {
  switch (which % 4) {
    case 0:
      y = __half2float(__float2half_rn(x));
      break;
    case 1:
      y = __bfloat162float(__float2bfloat16_rn(x));
      break;
    case 2:
      y = x * 1.5f;
      break;
    default:
      y = sqrtf(fabsf(x));
      break;
  }
}
__device__ inline void convert(float x, __half& y, int64_t which) {
  switch (which % 4) {
    case 0:
      y = __float2half_rn(x);
      break;
    case 1:
      y = __float2half_rz(x);
      break;
    case 2:
      y = __float2half_ru(x);
      break;
    default:
      y = __float2half_rd(x);
      break;
  }
}
__device__ inline void convert(float x, __nv_bfloat16& y, int64_t which) {
  switch (which % 4) {
    case 0:
      y = __float2bfloat16_rn(x);
      break;
    case 1:
      y = __float2bfloat16_rz(x);
      break;
    case 2:
      y = __float2bfloat16_ru(x);
      break;
    default:
      y = __float2bfloat16_rd(x);
      break;
  }
}
__device__ inline void convert(__half x, float& y, int64_t) { y = __half2float(x); }
__device__ inline void convert(__nv_bfloat16 x, float& y, int64_t) { y = __bfloat162float(x); }
template <class T>
__device__ inline void convert(T x, T& y, int64_t which) {
  switch (which % 4) {
    case 0:
      y = __hadd(x, x);
      break;
    case 1:
      y = __hmul(x, x);
      break;
    case 2:
      y = __hfma(x, x, x);
      break;
    default:
      y = __hsub(x, __hmul_rn(x, x));  // __hmul may be fused with what adds its product
      break;
  }
}

template <class T, class U>
__global__ void conversions(wf::View<const T, 2> x, wf::View<U, 2> y) {
  const int64_t columns = x.extent[1], size = x.extent[0] * columns;
  for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
    convert(x(i / columns, i % columns), y(i / columns, i % columns), i);
  }
}

WARPFUZZ_KERNEL("T == float32 || U == float32 || T == U") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  const auto launch = [&](auto t, auto u) {
    using T = decltype(t);
    using U = decltype(u);
    conversions<T, U><<<1, 256, 0, call.stream()>>>(x.view<const T, 2>(), y.view<U, 2>());
    return call.launched();
  };
  if (x.is(kDLFloat, 32)) return wf::dispatch(y, [&](auto u) { return launch(float{}, u); });
  if (y.is(kDLFloat, 32)) return wf::dispatch(x, [&](auto t) { return launch(t, float{}); });
  if (x.is(kDLFloat, 16)) return launch(__half{}, __half{});
  return launch(__nv_bfloat16{}, __nv_bfloat16{});
}
