// half and bfloat16 operations over arrays of bits, for comparison with exact arithmetic.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

template <class T>
__device__ T from_bits(uint16_t bits);
template <>
__device__ __half from_bits<__half>(uint16_t bits) {
  return __ushort_as_half(bits);
}
template <>
__device__ __nv_bfloat16 from_bits<__nv_bfloat16>(uint16_t bits) {
  return __ushort_as_bfloat16(bits);
}
__device__ uint16_t to_bits(__half value) { return __half_as_ushort(value); }
__device__ uint16_t to_bits(__nv_bfloat16 value) { return __bfloat16_as_ushort(value); }

// Runs a kernel over `count` results, each from `width` inputs.
template <class In, class Out>
void map(void (*kernel)(const In*, Out*, int), const In* in, Out* out, int count, int width = 1) {
  In* device_in = nullptr;
  Out* device_out = nullptr;
  cudaMalloc(&device_in, sizeof(In) * count * width);
  cudaMalloc(&device_out, sizeof(Out) * count);
  cudaMemcpy(device_in, in, sizeof(In) * count * width, cudaMemcpyHostToDevice);
  kernel<<<64, 256>>>(device_in, device_out, count);
  cudaMemcpy(out, device_out, sizeof(Out) * count, cudaMemcpyDeviceToHost);
  cudaFree(device_in);
  cudaFree(device_out);
}

#define CONVERSION(name, in_type, out_type, expression)                           \
  __global__ void name##_kernel(const in_type* in, out_type* out, int count) {    \
    const int stride = gridDim.x * blockDim.x;                                    \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) { \
      const in_type v = in[i];                                                    \
      out[i] = expression;                                                        \
    }                                                                             \
  }                                                                               \
  extern "C" void name(const in_type* in, out_type* out, int count) {             \
    map(name##_kernel, in, out, count);                                           \
  }
#define CONVERSIONS(prefix, type, to_float, from_float, from_double)               \
  CONVERSION(prefix##_to_float, uint16_t, float, to_float(from_bits<type>(v)))     \
  CONVERSION(prefix##_from_float, float, uint16_t, to_bits(from_float(v)))         \
  CONVERSION(prefix##_from_float_rz, float, uint16_t, to_bits(from_float##_rz(v))) \
  CONVERSION(prefix##_from_float_ru, float, uint16_t, to_bits(from_float##_ru(v))) \
  CONVERSION(prefix##_from_float_rd, float, uint16_t, to_bits(from_float##_rd(v))) \
  CONVERSION(prefix##_from_double, double, uint16_t, to_bits(from_double(v)))
CONVERSIONS(half, __half, __half2float, __float2half, __double2half)
CONVERSIONS(bfloat16, __nv_bfloat16, __bfloat162float, __float2bfloat16, __double2bfloat16)

// `in` holds triples; a binary operation ignores the third.
#define OPERATION(name, type, expression)                                         \
  __global__ void name##_kernel(const uint16_t* in, uint16_t* out, int count) {   \
    const int stride = gridDim.x * blockDim.x;                                    \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) { \
      const type a = from_bits<type>(in[3 * i]);                                  \
      const type b = from_bits<type>(in[3 * i + 1]);                              \
      const type c = from_bits<type>(in[3 * i + 2]);                              \
      (void)c;                                                                    \
      out[i] = to_bits(expression);                                               \
    }                                                                             \
  }                                                                               \
  extern "C" void name(const uint16_t* in, uint16_t* out, int count) {            \
    map(name##_kernel, in, out, count, 3);                                        \
  }
#define OPERATIONS(prefix, type)       \
  OPERATION(prefix##_add, type, a + b) \
  OPERATION(prefix##_sub, type, a - b) \
  OPERATION(prefix##_mul, type, a* b)  \
  OPERATION(prefix##_div, type, a / b) \
  OPERATION(prefix##_fma, type, __hfma(a, b, c))
OPERATIONS(half, __half)
OPERATIONS(bfloat16, __nv_bfloat16)
