// Loads and stores with cache hints (__ldg, __ldcs, __stcg ...), which are plain accesses here.
// Those that go to the L2 cache or further are what blocks use to talk to one another: volatile, if
// of a scalar, and loops that wait are made of them. Only the types that CUDA has overloads for, so
// that what nvcc refuses is refused.
#pragma once

#include "vector_types.h"

namespace wf_simt {
template <class T>
WF_INTRINSIC T load_from_l2(const T* address) {
  if constexpr (__is_scalar(T)) {
    poll(address);
    return *const_cast<const volatile T*>(address);
  } else {
    return *address;
  }
}
template <class T>
WF_INTRINSIC void store_to_l2(T* address, const T& value) {
  if constexpr (__is_scalar(T)) {
    *const_cast<volatile T*>(address) = value;
  } else {
    *address = value;
  }
}
}  // namespace wf_simt

#define WF_CACHED_LOAD(name, type) \
  WF_INTRINSIC type name(const type* address) { return *address; }
#define WF_CACHED_STORE(name, type) \
  WF_INTRINSIC void name(type* address, type value) { *address = value; }
#define WF_L2_LOAD(name, type) \
  WF_INTRINSIC type name(const type* address) { return ::wf_simt::load_from_l2(address); }
#define WF_L2_STORE(name, type) \
  WF_INTRINSIC void name(type* address, type value) { ::wf_simt::store_to_l2(address, value); }
// Also used for half and bfloat16.
#define WF_CACHE_HINTS(type)    \
  WF_CACHED_LOAD(__ldg, type)   \
  WF_CACHED_LOAD(__ldca, type)  \
  WF_L2_LOAD(__ldcg, type)      \
  WF_CACHED_LOAD(__ldcs, type)  \
  WF_CACHED_LOAD(__ldlu, type)  \
  WF_L2_LOAD(__ldcv, type)      \
  WF_CACHED_STORE(__stwb, type) \
  WF_L2_STORE(__stcg, type)     \
  WF_CACHED_STORE(__stcs, type) \
  WF_L2_STORE(__stwt, type)

WF_CACHE_HINTS(char)
WF_CACHE_HINTS(signed char)
WF_CACHE_HINTS(unsigned char)
WF_CACHE_HINTS(short)
WF_CACHE_HINTS(unsigned short)
WF_CACHE_HINTS(int)
WF_CACHE_HINTS(unsigned int)
WF_CACHE_HINTS(long)
WF_CACHE_HINTS(unsigned long)
WF_CACHE_HINTS(long long)
WF_CACHE_HINTS(unsigned long long)
WF_CACHE_HINTS(float)
WF_CACHE_HINTS(double)
WF_CACHE_HINTS(char2)
WF_CACHE_HINTS(char4)
WF_CACHE_HINTS(uchar2)
WF_CACHE_HINTS(uchar4)
WF_CACHE_HINTS(short2)
WF_CACHE_HINTS(short4)
WF_CACHE_HINTS(ushort2)
WF_CACHE_HINTS(ushort4)
WF_CACHE_HINTS(int2)
WF_CACHE_HINTS(int4)
WF_CACHE_HINTS(uint2)
WF_CACHE_HINTS(uint4)
WF_CACHE_HINTS(longlong2)
WF_CACHE_HINTS(ulonglong2)
WF_CACHE_HINTS(float2)
WF_CACHE_HINTS(float4)
WF_CACHE_HINTS(double2)
