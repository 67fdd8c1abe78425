// bfloat16 for the CPU device: __nv_bfloat16 and __nv_bfloat162 with the names of CUDA's
// <cuda_bf16.h>. Always by way of float, never of half; every operation rounds once, subnormals are
// kept, NaN results are the canonical 0x7fff.
#pragma once

#include "cuda_fp16.h"

#define WF_T __nv_bfloat16
#define WF_T2 __nv_bfloat162
#define WF_RAW __nv_bfloat16_raw
#define WF_RAW2 __nv_bfloat162_raw
#define WF_NAME bfloat16
#define WF_NAME2 bfloat162
#define WF_PAIR_OF 2bfloat162
#define WF_BITS wf_fp::bfloat16_bits
#define WF_VALUE wf_fp::bfloat16_value
#define WF_OTHER_T __half
#ifdef __CUDA_NO_BFLOAT16_CONVERSIONS__
#define WF_CONVERSIONS 0
#else
#define WF_CONVERSIONS 1
#endif
#ifdef __CUDA_NO_BFLOAT16_OPERATORS__
#define WF_OPERATORS 0
#else
#define WF_OPERATORS 1
#endif
#if defined(__CUDA_NO_BFLOAT162_OPERATORS__) || defined(__CUDA_NO_BFLOAT16_OPERATORS__)
#define WF_OPERATORS2 0
#else
#define WF_OPERATORS2 1
#endif
#include "wf_small_float_all.inc"

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

// Between the two formats: half has no bits below bfloat16's range, and float holds both exactly.
WF_INTRINSIC __nv_bfloat16::__nv_bfloat16(__half other)
    : bits_(wf_fp::bfloat16_bits(other.wf_value())) {}
WF_INTRINSIC __half::__half(__nv_bfloat16 other) : bits_(wf_fp::half_bits(other.wf_value())) {}

#define CUDART_INF_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x7f80))
#define CUDART_NAN_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x7fff))
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x0001))
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x7f7f))
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x8000))
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x0000))
#define CUDART_ONE_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x3f80))
