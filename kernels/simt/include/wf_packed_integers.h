// Packed integers: two 16-bit or four 8-bit lanes in a word, and the three-operand minimum and
// maximum functions for dynamic programming. Lanes wrap unless the name has "ss" or "us"
// (saturation).
#pragma once

#include "host_defines.h"

namespace wf_math {

// Lane `i` of a word as a number: `Lane` is signed char, unsigned char, short or unsigned short.
template <class Lane>
WF_INTRINSIC int lane(unsigned word, unsigned i) {
  return static_cast<Lane>(word >> (8 * sizeof(Lane) * i));
}
template <class Lane, class Operation>
WF_INTRINSIC unsigned map_lanes(unsigned a, unsigned b, Operation operation) {
  constexpr unsigned bits = 8 * sizeof(Lane);
  constexpr unsigned mask = (1u << bits) - 1;
  unsigned result = 0;
  for (unsigned i = 0; i < 32 / bits; ++i) {
    const int value = operation(lane<Lane>(a, i), lane<Lane>(b, i));
    result |= (static_cast<unsigned>(value) & mask) << (bits * i);
  }
  return result;
}
template <class Lane, class Operation>
WF_INTRINSIC unsigned sum_lanes(unsigned a, unsigned b, Operation operation) {
  unsigned sum = 0;
  for (unsigned i = 0; i < 4 / sizeof(Lane); ++i) {
    sum += static_cast<unsigned>(operation(lane<Lane>(a, i), lane<Lane>(b, i)));
  }
  return sum;
}
// To the range of `Lane`.
template <class Lane>
WF_INTRINSIC int saturated(int value) {
  constexpr bool is_signed = static_cast<Lane>(-1) < 0;
  constexpr int most = (1 << (8 * sizeof(Lane) - is_signed)) - 1;
  constexpr int least = is_signed ? -most - 1 : 0;
  return value > most ? most : value < least ? least : value;
}

}  // namespace wf_math

#define WF_PACKED(name, suffix, lane_type, expression)                                      \
  WF_INTRINSIC unsigned name##suffix(unsigned a, unsigned b) {                              \
    using Lane = lane_type;                                                                 \
    return wf_math::map_lanes<Lane>(a, b, [](int x, int y) __attribute__((always_inline)) { \
      return static_cast<int>(expression);                                                  \
    });                                                                                     \
  }
#define WF_PACKED_SIGNED(name, expression) \
  WF_PACKED(name, 2, short, expression)    \
  WF_PACKED(name, 4, signed char, expression)
#define WF_PACKED_UNSIGNED(name, expression)     \
  WF_PACKED(name, 2, unsigned short, expression) \
  WF_PACKED(name, 4, unsigned char, expression)
#define WF_PACKED_SUM(name, suffix, lane_type)                                                    \
  WF_INTRINSIC unsigned name##suffix(unsigned a, unsigned b) {                                    \
    return wf_math::sum_lanes<lane_type>(                                                         \
        a, b, [](int x, int y) __attribute__((always_inline)) { return x > y ? x - y : y - x; }); \
  }
#define WF_PACKED_UNARY(name)                                              \
  WF_INTRINSIC unsigned name##2(unsigned a) { return wf_##name##2(a, 0); } \
  WF_INTRINSIC unsigned name##4(unsigned a) { return wf_##name##4(a, 0); }
// Comparisons: all ones or zero, and 1 or 0.
#define WF_PACKED_COMPARE(kind, signedness, operation)         \
  WF_PACKED_##signedness(__vcmp##kind, x operation y ? -1 : 0) \
      WF_PACKED_##signedness(__vset##kind, x operation y ? 1 : 0)
WF_PACKED_UNSIGNED(__vadd, x + y)
WF_PACKED_UNSIGNED(__vsub, x - y)
WF_PACKED_SIGNED(__vaddss, wf_math::saturated<Lane>(x + y))
WF_PACKED_SIGNED(__vsubss, wf_math::saturated<Lane>(x - y))
WF_PACKED_UNSIGNED(__vaddus, wf_math::saturated<Lane>(x + y))
WF_PACKED_UNSIGNED(__vsubus, wf_math::saturated<Lane>(x - y))
WF_PACKED_UNSIGNED(__vabsdiffu, x > y ? x - y : y - x)
WF_PACKED_SIGNED(__vabsdiffs, x > y ? x - y : y - x)
WF_PACKED_UNSIGNED(__vhaddu, (x + y) >> 1)
WF_PACKED_UNSIGNED(__vavgu, (x + y + 1) >> 1)
WF_PACKED_SIGNED(__vavgs, (x + y + (x + y >= 0)) >> 1)
WF_PACKED_UNSIGNED(__vmaxu, x > y ? x : y)
WF_PACKED_UNSIGNED(__vminu, x < y ? x : y)
WF_PACKED_SIGNED(__vmaxs, x > y ? x : y)
WF_PACKED_SIGNED(__vmins, x < y ? x : y)
WF_PACKED_COMPARE(eq, UNSIGNED, ==)
WF_PACKED_COMPARE(ne, UNSIGNED, !=)
WF_PACKED_COMPARE(gtu, UNSIGNED, >)
WF_PACKED_COMPARE(geu, UNSIGNED, >=)
WF_PACKED_COMPARE(ltu, UNSIGNED, <)
WF_PACKED_COMPARE(leu, UNSIGNED, <=)
WF_PACKED_COMPARE(gts, SIGNED, >)
WF_PACKED_COMPARE(ges, SIGNED, >=)
WF_PACKED_COMPARE(lts, SIGNED, <)
WF_PACKED_COMPARE(les, SIGNED, <=)
WF_PACKED_SIGNED(wf___vabs, x < 0 ? -x : x)
WF_PACKED_SIGNED(wf___vabsss, wf_math::saturated<Lane>(x < 0 ? -x : x))
WF_PACKED_SIGNED(wf___vneg, -x)
WF_PACKED_SIGNED(wf___vnegss, wf_math::saturated<Lane>(-x))
WF_PACKED_UNARY(__vabs)
WF_PACKED_UNARY(__vabsss)
WF_PACKED_UNARY(__vneg)
WF_PACKED_UNARY(__vnegss)
WF_PACKED_SUM(__vsads, 2, short)
WF_PACKED_SUM(__vsads, 4, signed char)
WF_PACKED_SUM(__vsadu, 2, unsigned short)
WF_PACKED_SUM(__vsadu, 4, unsigned char)

// Of words, with T int or unsigned: __viaddmax_s32(a, b, c) is max(a + b, c), the forms with relu
// are at least 0, and __vibmax tells which argument it took (the first where they are equal).
#define WF_WORD_EXTREMA(suffix, T, which, operation)                                   \
  WF_INTRINSIC T __vi##which##3_##suffix(T a, T b, T c) {                              \
    const T d = a operation b ? a : b;                                                 \
    return d operation c ? d : c;                                                      \
  }                                                                                    \
  WF_INTRINSIC T __viadd##which##_##suffix(T a, T b, T c) {                            \
    const T sum = static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b)); \
    return sum operation c ? sum : c;                                                  \
  }                                                                                    \
  WF_INTRINSIC T __vib##which##_##suffix(T a, T b, bool* first) {                      \
    *first = a == b || a operation b;                                                  \
    return *first ? a : b;                                                             \
  }
#define WF_WORD_RELU(which, operation)                              \
  WF_INTRINSIC int __vi##which##_s32_relu(int a, int b) {           \
    const int c = a operation b ? a : b;                            \
    return c > 0 ? c : 0;                                           \
  }                                                                 \
  WF_INTRINSIC int __vi##which##3_s32_relu(int a, int b, int c) {   \
    const int d = __vi##which##3_s32(a, b, c);                      \
    return d > 0 ? d : 0;                                           \
  }                                                                 \
  WF_INTRINSIC int __viadd##which##_s32_relu(int a, int b, int c) { \
    const int d = __viadd##which##_s32(a, b, c);                    \
    return d > 0 ? d : 0;                                           \
  }
WF_WORD_EXTREMA(s32, int, max, >)
WF_WORD_EXTREMA(s32, int, min, <)
WF_WORD_EXTREMA(u32, unsigned, max, >)
WF_WORD_EXTREMA(u32, unsigned, min, <)
WF_WORD_RELU(max, >)
WF_WORD_RELU(min, <)

// The same of two 16-bit lanes.
#define WF_PAIR_EXTREMA(suffix, sign, which)                                                     \
  WF_INTRINSIC unsigned __vi##which##3_##suffix(unsigned a, unsigned b, unsigned c) {            \
    return __v##which##sign##2(__v##which##sign##2(a, b), c);                                    \
  }                                                                                              \
  WF_INTRINSIC unsigned __viadd##which##_##suffix(unsigned a, unsigned b, unsigned c) {          \
    return __v##which##sign##2(__vadd2(a, b), c);                                                \
  }                                                                                              \
  WF_INTRINSIC unsigned __vib##which##_##suffix(unsigned a, unsigned b, bool* high, bool* low) { \
    const unsigned best = __v##which##sign##2(a, b);                                             \
    *high = best >> 16 == a >> 16;                                                               \
    *low = (best & 0xffffu) == (a & 0xffffu);                                                    \
    return best;                                                                                 \
  }
#define WF_PAIR_RELU(which)                                                               \
  WF_INTRINSIC unsigned __vi##which##_s16x2_relu(unsigned a, unsigned b) {                \
    return __vmaxs2(__v##which##s2(a, b), 0);                                             \
  }                                                                                       \
  WF_INTRINSIC unsigned __vi##which##3_s16x2_relu(unsigned a, unsigned b, unsigned c) {   \
    return __vmaxs2(__vi##which##3_s16x2(a, b, c), 0);                                    \
  }                                                                                       \
  WF_INTRINSIC unsigned __viadd##which##_s16x2_relu(unsigned a, unsigned b, unsigned c) { \
    return __vmaxs2(__viadd##which##_s16x2(a, b, c), 0);                                  \
  }
WF_PAIR_EXTREMA(s16x2, s, max)
WF_PAIR_EXTREMA(s16x2, s, min)
WF_PAIR_EXTREMA(u16x2, u, max)
WF_PAIR_EXTREMA(u16x2, u, min)
WF_PAIR_RELU(max)
WF_PAIR_RELU(min)
#undef WF_PACKED
#undef WF_PACKED_SIGNED
#undef WF_PACKED_UNSIGNED
#undef WF_PACKED_SUM
#undef WF_PACKED_UNARY
#undef WF_PACKED_COMPARE
#undef WF_WORD_EXTREMA
#undef WF_WORD_RELU
#undef WF_PAIR_EXTREMA
#undef WF_PAIR_RELU
