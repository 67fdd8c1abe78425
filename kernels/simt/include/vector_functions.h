// make_float4 and its kin.
#pragma once

#include "vector_types.h"

#define WF_MAKE_VECTORS(name, type)                                                           \
  WF_INTRINSIC constexpr name##1 make_##name##1(type x) { return {x}; }                       \
  WF_INTRINSIC constexpr name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  WF_INTRINSIC constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  WF_INTRINSIC constexpr name##4 make_##name##4(type x, type y, type z, type w) {             \
    return {x, y, z, w};                                                                      \
  }

WF_MAKE_VECTORS(char, signed char)
WF_MAKE_VECTORS(uchar, unsigned char)
WF_MAKE_VECTORS(short, short)
WF_MAKE_VECTORS(ushort, unsigned short)
WF_MAKE_VECTORS(int, int)
WF_MAKE_VECTORS(uint, unsigned int)
WF_MAKE_VECTORS(long, long)
WF_MAKE_VECTORS(ulong, unsigned long)
WF_MAKE_VECTORS(longlong, long long)
WF_MAKE_VECTORS(ulonglong, unsigned long long)
WF_MAKE_VECTORS(float, float)
WF_MAKE_VECTORS(double, double)

#undef WF_MAKE_VECTORS
