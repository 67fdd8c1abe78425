// half precision for the CPU device: __half and __half2 with the names of CUDA's <cuda_fp16.h>.
// IEEE binary16 through F16C; every operation rounds once, subnormals are kept, NaN results are the
// canonical 0x7fff. Not here: h...2 functions of later versions for complex packing, __half4.
#pragma once

#include <cuda_runtime.h>

#include "device_functions.h"
#include "wf_small_floats.h"

#define WF_T __half
#define WF_T2 __half2
#define WF_RAW __half_raw
#define WF_RAW2 __half2_raw
#define WF_NAME half
#define WF_NAME2 half2
#define WF_PAIR_OF 2half2
#define WF_BITS wf_fp::half_bits
#define WF_VALUE wf_fp::half_value
#define WF_OTHER_T struct __nv_bfloat16
#ifdef __CUDA_NO_HALF_CONVERSIONS__
#define WF_CONVERSIONS 0
#else
#define WF_CONVERSIONS 1
#endif
#ifdef __CUDA_NO_HALF_OPERATORS__
#define WF_OPERATORS 0
#else
#define WF_OPERATORS 1
#endif
#if defined(__CUDA_NO_HALF2_OPERATORS__) || defined(__CUDA_NO_HALF_OPERATORS__)
#define WF_OPERATORS2 0
#else
#define WF_OPERATORS2 1
#endif
#include "wf_small_float_all.inc"

using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

#define CUDART_INF_FP16 __ushort_as_half(static_cast<unsigned short>(0x7c00))
#define CUDART_NAN_FP16 __ushort_as_half(static_cast<unsigned short>(0x7fff))
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(static_cast<unsigned short>(0x0001))
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(static_cast<unsigned short>(0x7bff))
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(static_cast<unsigned short>(0x8000))
#define CUDART_ZERO_FP16 __ushort_as_half(static_cast<unsigned short>(0x0000))
#define CUDART_ONE_FP16 __ushort_as_half(static_cast<unsigned short>(0x3c00))
