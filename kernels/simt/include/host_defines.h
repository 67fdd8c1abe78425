// The qualifiers of CUDA C++. Those that the token rewriter must see map to words that only it
// knows (__wf_global__ ...); the others become attributes or nothing. __noinline__ is no macro,
// since libstdc++ uses that name inside attributes: the rewriter handles it.
//
// Host and device share one address space on the CPU device, so __constant__ and __managed__
// variables are plain globals, and a __host__ __device__ function is compiled once, as device code
// (__CUDA_ARCH__ is 900 everywhere).
#pragma once

#define __global__ __wf_global__
#define __device__ __wf_device__
#define __host__ __wf_host__
#define __shared__ __wf_shared__
#define __cluster_dims__(...) __wf_cluster_dims__
#define __launch_bounds__(...) __wf_launch_bounds__(__VA_ARGS__)

#define __constant__
#define __managed__
#define __grid_constant__
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __attribute__((aligned(bytes)))
#define __device_builtin__
#define __cudart_builtin__
#define __CUDA_ALIGN__(bytes) __attribute__((aligned(bytes)))
#define __nv_pure__
#define CUDARTAPI
#define CUDAAPI

// The functions of these headers are inlined even at -O1 and have no lines of their own: a fault in
// __ldg(p) is reported at the line that calls it.
#define WF_INTRINSIC inline __attribute__((always_inline, nodebug))
// After the parameters of a lambda.
#define WF_INTRINSIC_LAMBDA __attribute__((always_inline, nodebug))
