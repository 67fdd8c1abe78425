// Device arithmetic: bits, packed integers, conversions, half, bfloat16 and fp8, fast functions,
// doubles, cache hints and random numbers, against plain C++.
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <curand_kernel.h>

#include <cstdint>
#include <cuda/functional>
#include <cuda/std/array>
#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/type_traits>

#include "check.h"

// One result per expression in words `a` and `b`; the host has the same in plain C++.
constexpr int columns = 28;
__global__ void words(const unsigned* a_in, const unsigned* b_in, unsigned (*out)[columns], int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned a = __ldg(&a_in[i]), b = __ldcs(&b_in[i]);
  const unsigned results[columns] = {
      unsigned(__popc(a)),
      unsigned(__clz(int(a))),
      unsigned(__ffs(int(a))),
      __brev(a),
      __byte_perm(a, b, 0x5140),
      __funnelshift_l(a, b, 7),
      __umulhi(a, b),
      unsigned(__mulhi(int(a), int(b))),
      unsigned(__umul64hi(uint64_t(a) << 32 | b, uint64_t(b) << 32 | a) >> 32),
      unsigned(__dp4a(int(a), int(b), 5)),
      __usad(a, b, 7),
      __vadd4(a, b),
      __vsubus4(a, b),
      __vaddss2(a, b),
      __vabsdiffs4(a, b),
      __vavgs2(a, b),
      __vavgu4(a, b),
      __vcmpgts4(a, b),
      __vsetgeu2(a, b),
      __vneg2(a),
      __vabsss4(a),
      __vsadu4(a, b),
      __vmaxs2(a, b),
      unsigned(__viaddmax_s32(int(a), int(b), 3)),
      __vimin3_u16x2(a, b, 0x00ff7f00u),
      __vhaddu4(a, b),
      unsigned(__dp2a_hi(int(a), int(b), 5)),
      __dp2a_lo(make_ushort2(a & 0xffff, a >> 16),
                make_uchar4(b & 0xff, b >> 8 & 0xff, b >> 16 & 0xff, b >> 24), 5u),
  };
  for (int column = 0; column < columns; ++column) __stcg(&out[i][column], results[column]);
}
template <class Lane, class Operation>
unsigned lanes(unsigned a, unsigned b, Operation operation) {
  const int bits = 8 * sizeof(Lane);
  unsigned result = 0;
  for (int shift = 0; shift < 32; shift += bits) {
    const int value = operation(int(Lane(a >> shift)), int(Lane(b >> shift)));
    result |= (unsigned(value) & ((1u << bits) - 1)) << shift;
  }
  return result;
}
int clamp(int low, int value, int high) { return value < low ? low : value > high ? high : value; }
void test_words() {
  constexpr int n = 500;
  std::vector<unsigned> a(n), b(n);
  unsigned state = 1;
  for (int i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    a[i] = i < 4 ? unsigned(i) * 0x7fffffffu : state ^ state >> 13;
    state = state * 1664525u + 1013904223u;
    b[i] = i < 2 ? 0x80808080u : state ^ state << 7;
  }
  unsigned(*out)[columns] = nullptr;
  CHECK_CUDA(cudaMallocManaged(&out, n * sizeof *out));
  words<<<(n + 127) / 128, 128>>>(Buffer<unsigned>(a), Buffer<unsigned>(b), out, n);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    const unsigned x = a[i], y = b[i];
    unsigned reversed = 0, absolute = 0, sum_of_differences = 0;
    int dot = 5;
    for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1) << (31 - bit);
    for (int shift = 0; shift < 32; shift += 8) {
      dot += int(int8_t(x >> shift)) * int(int8_t(y >> shift));
      sum_of_differences += unsigned(std::abs(int(uint8_t(x >> shift)) - int(uint8_t(y >> shift))));
    }
    absolute = x > y ? x - y : y - x;
    const unsigned __int128 wide =
        (unsigned __int128)(uint64_t(x) << 32 | y) * (uint64_t(y) << 32 | x);
    const int sum = int(x + y);
    const unsigned expected[columns] = {
        unsigned(__builtin_popcount(x)),
        x == 0 ? 32u : unsigned(__builtin_clz(x)),
        unsigned(__builtin_ffs(int(x))),
        reversed,
        (x & 0xff) | (y & 0xff) << 8 | (x >> 8 & 0xff) << 16 | (y >> 8 & 0xff) << 24,
        y << 7 | x >> 25,
        unsigned(uint64_t(x) * y >> 32),
        unsigned(int64_t(int(x)) * int(y) >> 32),
        unsigned(uint64_t(wide >> 64) >> 32),
        unsigned(dot),
        absolute + 7,
        lanes<uint8_t>(x, y, [](int p, int q) { return p + q; }),
        lanes<uint8_t>(x, y, [](int p, int q) { return p > q ? p - q : 0; }),
        lanes<int16_t>(x, y, [](int p, int q) { return clamp(-32768, p + q, 32767); }),
        lanes<int8_t>(x, y, [](int p, int q) { return std::abs(p - q); }),
        lanes<int16_t>(x, y, [](int p, int q) { return (p + q + (p + q >= 0)) >> 1; }),
        lanes<uint8_t>(x, y, [](int p, int q) { return (p + q + 1) / 2; }),
        lanes<int8_t>(x, y, [](int p, int q) { return p > q ? -1 : 0; }),
        lanes<uint16_t>(x, y, [](int p, int q) { return p >= q ? 1 : 0; }),
        lanes<int16_t>(x, y, [](int p, int) { return -p; }),
        lanes<int8_t>(x, y, [](int p, int) { return clamp(-128, std::abs(p), 127); }),
        sum_of_differences,
        lanes<int16_t>(x, y, [](int p, int q) { return p > q ? p : q; }),
        unsigned(sum > 3 ? sum : 3),
        lanes<uint16_t>(lanes<uint16_t>(x, y, [](int p, int q) { return p < q ? p : q; }),
                        0x00ff7f00u, [](int p, int q) { return p < q ? p : q; }),
        lanes<uint8_t>(x, y, [](int p, int q) { return (p + q) / 2; }),
        unsigned(5 + int16_t(x) * int8_t(y >> 16) + int16_t(x >> 16) * int8_t(y >> 24)),
        5 + (x & 0xffff) * (y & 0xff) + (x >> 16) * (y >> 8 & 0xff),
    };
    for (int column = 0; column < columns; ++column) {
      if (out[i][column] != expected[column])
        std::printf("column %d of %08x, %08x: ", column, x, y);
      CHECK(out[i][column] == expected[column]);
    }
  }
}

struct Small {
  float half_sum, bfloat_product, pair, e4m3, e5m2, quad;
  int compared;
};
__global__ void small_floats(const float* in, Small* out) {
  const float x = in[threadIdx.x], y = in[blockDim.x - 1 - threadIdx.x];
  const __half h = __float2half(x) + __float2half(y);
  const __nv_bfloat16 b = __hmul(__float2bfloat16(x), __float2bfloat16(y));
  const __half2 pair =
      __hfma2(__floats2half2_rn(x, y), __float2half2_rn(2.0f), __float2half2_rn(1.0f));
  const __nv_fp8x4_e4m3 quad(make_float4(x, y, 1.0f, -2.0f));
  const float4 unpacked = static_cast<float4>(quad);
  out[threadIdx.x] = {__half2float(h),
                      __bfloat162float(b),
                      __low2float(pair) + __high2float(pair),
                      static_cast<float>(__nv_fp8_e4m3(x)),
                      static_cast<float>(__nv_fp8_e5m2(100 * x)),
                      unpacked.x + unpacked.y + unpacked.z + unpacked.w,
                      __hgt(__float2half(x), __float2half(y)) + 2 * __hbge2(pair, pair) +
                          4 * __hgt(CUDART_INF_FP16, CUDART_MAX_NORMAL_FP16) +
                          8 * __heq(CUDART_ONE_BF16, __float2bfloat16(1.0f))};
}
// To `digits` significant bits, ties to even.
float rounded(double x, int digits) {
  if (x == 0) return 0;
  const int scale = digits - 1 - std::ilogb(x);
  return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(x, scale)), -scale));
}
void test_small_floats() {
  const std::vector<float> in = Numbers(5).vector(64, 4.0f);
  Small* out = nullptr;
  CHECK_CUDA(cudaMallocManaged(&out, 64 * sizeof *out));
  small_floats<<<1, 64>>>(Buffer<float>(in), out);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i) {
    const float x = in[i], y = in[63 - i];
    const float hx = rounded(x, 11), hy = rounded(y, 11);
    CHECK(out[i].half_sum == rounded(double(hx) + hy, 11));
    CHECK(out[i].bfloat_product == rounded(double(rounded(x, 8)) * rounded(y, 8), 8));
    CHECK(out[i].pair == rounded(2.0 * hx + 1, 11) + rounded(2.0 * hy + 1, 11));
    if (std::fabs(x) > 0.02f && std::fabs(y) > 0.02f) {
      CHECK(out[i].e4m3 == rounded(x, 4));
      CHECK(out[i].e5m2 == rounded(100 * x, 3));
      CHECK(out[i].quad == rounded(x, 4) + rounded(y, 4) - 1);
    }
    CHECK(out[i].compared == (hx > hy) + 14);
  }
}

constexpr int functions = 14;
__global__ void mathematics(const float* in, double (*out)[functions]) {
  const float x = fabsf(in[threadIdx.x]) + 0.1f;
  const double d = x;
  const cuFloatComplex z = cuCmulf(make_cuFloatComplex(x, 1), make_cuFloatComplex(1, -x));
  const double results[functions] = {__expf(x),   __logf(x),
                                     __sinf(x),   __fdividef(1, x),
                                     rsqrtf(x),   tanhf(x),
                                     erff(x),     exp2(d),
                                     log1p(d),    fma(d, d, -d),
                                     normcdf(d),  sinpi(d / 4),
                                     cuCrealf(z), cuda::maximum<double>()(d, 1.0)};
  for (int i = 0; i < functions; ++i) out[threadIdx.x][i] = results[i];
}
void test_mathematics() {
  const std::vector<float> in = Numbers(9).vector(64, 3.0f);
  double(*out)[functions] = nullptr;
  CHECK_CUDA(cudaMallocManaged(&out, 64 * sizeof *out));
  mathematics<<<1, 64>>>(Buffer<float>(in), out);
  CHECK_CUDA(cudaDeviceSynchronize());
  const double pi = std::acos(-1.0);
  for (int i = 0; i < 64; ++i) {
    const double x = std::fabs(in[i]) + 0.1f;
    const double expected[functions] = {std::exp(x),
                                        std::log(x),
                                        std::sin(x),
                                        1 / x,
                                        1 / std::sqrt(x),
                                        std::tanh(x),
                                        std::erf(x),
                                        std::exp2(x),
                                        std::log1p(x),
                                        x * x - x,
                                        0.5 * std::erfc(-x / std::sqrt(2.0)),
                                        std::sin(pi * x / 4),
                                        2 * x,
                                        x > 1 ? x : 1};
    for (int f = 0; f < functions; ++f) {
      const double bound = f < 7 ? 2e-6 * (1 + std::fabs(expected[f])) : f == 12 ? 1e-6 * x : 1e-6;
      CHECK(std::fabs(out[i][f] - expected[f]) <= bound);
    }
  }
}

__global__ void random_numbers(unsigned* first, float* uniform, float* normal) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  curandStatePhilox4_32_10_t state;
  curand_init(1234, i, 7, &state);
  first[i] = curand(&state);
  const float4 u = curand_uniform4(&state), n = curand_normal4(&state);
  uniform[i] = (u.x + u.y + u.z + u.w) / 4;
  normal[i] = (n.x + n.y + n.z + n.w) / 4;
}
void test_random_numbers() {
  constexpr int n = 4096;
  const Buffer<unsigned> first(n);
  const Buffer<float> uniform(n), normal(n);
  random_numbers<<<n / 256, 256>>>(first, uniform, normal);
  const std::vector<unsigned> words = first.host();
  CHECK(words[5] == 1925342002u && words[5] != words[6]);  // that of cuRAND
  double mean_uniform = 0, mean_normal = 0, square = 0;
  for (const float value : uniform.host()) mean_uniform += value / double(n);
  for (const float value : normal.host()) {
    mean_normal += value / double(n);
    square += 4 * double(value) * value / n;
  }
  CHECK(std::fabs(mean_uniform - 0.5) < 0.01 && std::fabs(mean_normal) < 0.03);
  CHECK(std::fabs(square - 1) < 0.1);
}

__global__ void standard_library(int* out) {
  cuda::std::array<int, 3> values = {{1, 2, 3}};
  static_assert(cuda::std::is_same<cuda::std::int32_t, int>::value, "");
  int sum = 0;
  for (const int value : values) sum += value;
  out[0] = sum + (cuda::std::numeric_limits<float>::max() > 1e38f);
  out[1] = cuda::std::numeric_limits<int>::max();
}
void test_standard_library() {
  const Buffer<int> out(2);
  standard_library<<<1, 1>>>(out);
  CHECK(out.host()[0] == 7 && out.host()[1] == 2147483647);
}

int main() {
  test_words();
  test_small_floats();
  test_mathematics();
  test_random_numbers();
  test_standard_library();
  std::printf("numbers: %d failed\n", failed_checks);
  return failed_checks;
}
