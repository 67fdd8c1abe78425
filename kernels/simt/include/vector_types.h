// CUDA's built-in vector types, with CUDA's alignment. uint3 and dim3 are in wf_simt.h.
#pragma once

#include "host_defines.h"
#include "wf_simt.h"

// Alignment of the types of 1 to 4 elements; that of 3 elements is the element's.
#define WF_VECTOR_TYPES(name, type, align2, align4)               \
  struct name##1 { type x; };                                     \
  struct __attribute__((aligned(align2))) name##2 { type x, y; }; \
  struct __attribute__((aligned(align4))) name##4 { type x, y, z, w; };
#define WF_VECTOR_TYPES_3(name, type) \
  struct name##3 { type x, y, z; };

WF_VECTOR_TYPES(char, signed char, 2, 4)
WF_VECTOR_TYPES(uchar, unsigned char, 2, 4)
WF_VECTOR_TYPES(short, short, 4, 8)
WF_VECTOR_TYPES(ushort, unsigned short, 4, 8)
WF_VECTOR_TYPES(int, int, 8, 16)
WF_VECTOR_TYPES(uint, unsigned int, 8, 16)
WF_VECTOR_TYPES(long, long, 16, 16)
WF_VECTOR_TYPES(ulong, unsigned long, 16, 16)
WF_VECTOR_TYPES(longlong, long long, 16, 16)
WF_VECTOR_TYPES(ulonglong, unsigned long long, 16, 16)
WF_VECTOR_TYPES(float, float, 8, 16)
WF_VECTOR_TYPES(double, double, 16, 16)
WF_VECTOR_TYPES_3(char, signed char)
WF_VECTOR_TYPES_3(uchar, unsigned char)
WF_VECTOR_TYPES_3(short, short)
WF_VECTOR_TYPES_3(ushort, unsigned short)
WF_VECTOR_TYPES_3(int, int)
WF_VECTOR_TYPES_3(long, long)
WF_VECTOR_TYPES_3(ulong, unsigned long)
WF_VECTOR_TYPES_3(longlong, long long)
WF_VECTOR_TYPES_3(ulonglong, unsigned long long)
WF_VECTOR_TYPES_3(float, float)
WF_VECTOR_TYPES_3(double, double)

#undef WF_VECTOR_TYPES
#undef WF_VECTOR_TYPES_3
