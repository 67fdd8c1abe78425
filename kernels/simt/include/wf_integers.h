// Integer and bit intrinsics: counts, permutations, funnel shifts, wide products, dot products. All
// wrap; none has undefined cases.
#pragma once

#include "math_functions.h"
#include "vector_types.h"
#include "wf_packed_integers.h"

WF_INTRINSIC int __popc(unsigned x) { return __builtin_popcount(x); }
WF_INTRINSIC int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
WF_INTRINSIC int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
WF_INTRINSIC int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
WF_INTRINSIC int __ffs(int x) { return __builtin_ffs(x); }
WF_INTRINSIC int __ffsll(long long x) { return __builtin_ffsll(x); }
WF_INTRINSIC unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
WF_INTRINSIC unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

// Position of the n-th set bit from `base` upwards (n > 0) or downwards (n < 0); n = 0 asks whether
// the bit at `base` is set.
inline unsigned __fns(unsigned mask, unsigned base, int n) {
  const int step = n < 0 ? -1 : 1;
  int left = n == 0 ? 1 : n < 0 ? -n : n;
  for (int bit = static_cast<int>(base); bit >= 0 && bit < 32; bit += step) {
    if ((mask >> bit & 1u) != 0 && --left == 0) return static_cast<unsigned>(bit);
    if (n == 0) break;
  }
  return 0xffffffffu;
}

WF_INTRINSIC unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned pick = selector >> (4 * i) & 7u;
    result |= static_cast<unsigned>(bytes >> (8 * pick) & 0xffu) << (8 * i);
  }
  return result;
}

WF_INTRINSIC unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both << (shift & 31u) >> 32);
}
WF_INTRINSIC unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
WF_INTRINSIC unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both >> (shift & 31u));
}
WF_INTRINSIC unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

WF_INTRINSIC int __mulhi(int a, int b) {
  return static_cast<int>(static_cast<long long>(a) * b >> 32);
}
WF_INTRINSIC unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
WF_INTRINSIC long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
WF_INTRINSIC unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
WF_INTRINSIC unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
WF_INTRINSIC int __mul24(int a, int b) {
  const int low_a = static_cast<int>(static_cast<unsigned>(a) << 8) >> 8;
  const int low_b = static_cast<int>(static_cast<unsigned>(b) << 8) >> 8;
  return static_cast<int>(static_cast<long long>(low_a) * low_b);
}
WF_INTRINSIC unsigned __usad(unsigned a, unsigned b, unsigned sum) {
  return sum + (a > b ? a - b : b - a);
}
WF_INTRINSIC unsigned __sad(int a, int b, unsigned sum) {
  const unsigned ua = static_cast<unsigned>(a), ub = static_cast<unsigned>(b);
  return sum + (a > b ? ua - ub : ub - ua);
}
// Averages without overflow; __rhadd and __urhadd round up.
WF_INTRINSIC int __hadd(int a, int b) {
  return static_cast<int>((static_cast<long long>(a) + b) >> 1);
}
WF_INTRINSIC int __rhadd(int a, int b) {
  return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1);
}
WF_INTRINSIC unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
WF_INTRINSIC unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}

namespace wf_math {

template <class A, class B>
WF_INTRINSIC unsigned dot4(unsigned a, unsigned b, unsigned sum) {
  for (unsigned i = 0; i < 4; ++i) sum += static_cast<unsigned>(lane<A>(a, i) * lane<B>(b, i));
  return sum;
}
template <class A, class B>
WF_INTRINSIC unsigned dot2(unsigned a, unsigned b, unsigned sum, unsigned first) {
  for (unsigned i = 0; i < 2; ++i) {
    sum += static_cast<unsigned>(lane<A>(a, i)) * static_cast<unsigned>(lane<B>(b, first + i));
  }
  return sum;
}

}  // namespace wf_math

WF_INTRINSIC int __dp4a(int a, int b, int sum) {
  return static_cast<int>(wf_math::dot4<signed char, signed char>(
      static_cast<unsigned>(a), static_cast<unsigned>(b), static_cast<unsigned>(sum)));
}
WF_INTRINSIC unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  return wf_math::dot4<unsigned char, unsigned char>(a, b, sum);
}
WF_INTRINSIC int __dp4a(char4 a, char4 b, int sum) {
  return __dp4a(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), sum);
}
WF_INTRINSIC unsigned __dp4a(uchar4 a, uchar4 b, unsigned sum) {
  return __dp4a(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), sum);
}
#define WF_DOT2(name, first)                                                                     \
  WF_INTRINSIC int name(int a, int b, int sum) {                                                 \
    return static_cast<int>(wf_math::dot2<short, signed char>(                                   \
        static_cast<unsigned>(a), static_cast<unsigned>(b), static_cast<unsigned>(sum), first)); \
  }                                                                                              \
  WF_INTRINSIC unsigned name(unsigned a, unsigned b, unsigned sum) {                             \
    return wf_math::dot2<unsigned short, unsigned char>(a, b, sum, first);                       \
  }                                                                                              \
  WF_INTRINSIC int name(short2 a, char4 b, int sum) {                                            \
    return name(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), sum);                    \
  }                                                                                              \
  WF_INTRINSIC unsigned name(ushort2 a, uchar4 b, unsigned sum) {                                \
    return name(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), sum);          \
  }
WF_DOT2(__dp2a_lo, 0)
WF_DOT2(__dp2a_hi, 2)
#undef WF_DOT2
