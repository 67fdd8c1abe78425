// The generator XORWOW (Marsaglia, "Xorshift RNGs", 2003) with the seeding and sequences of cuRAND.
// Part of <curand_kernel.h>. The xorshift part is linear over GF(2): skipping multiplies its 160
// bits with a power of the matrix of one step, which is computed when first needed.
#pragma once

#include "vector_types.h"

struct curandStateXORWOW {
  unsigned d, v[5];
  bool has_spare, has_spare_double;  // of the normal distribution
  float spare;
  double spare_double;
};
typedef curandStateXORWOW curandStateXORWOW_t;

namespace wf_random {

constexpr unsigned weyl_step = 362437;

struct XorshiftBits {
  unsigned word[5];
};
// Column i is what bit i alone becomes.
struct XorshiftMatrix {
  XorshiftBits column[160];
};

WF_NO_INSTRUMENT inline XorshiftBits step(const XorshiftBits& v) {
  const unsigned t = v.word[0] ^ v.word[0] >> 2;
  return {{v.word[1], v.word[2], v.word[3], v.word[4], v.word[4] ^ v.word[4] << 4 ^ t ^ t << 1}};
}
WF_NO_INSTRUMENT inline XorshiftBits multiply(const XorshiftMatrix& m, const XorshiftBits& v) {
  XorshiftBits result = {};
  for (int bit = 0; bit < 160; ++bit) {
    if ((v.word[bit / 32] >> (bit % 32) & 1u) == 0) continue;
    for (int i = 0; i < 5; ++i) result.word[i] ^= m.column[bit].word[i];
  }
  return result;
}

// Powers of the step: number n is 2^n steps.
inline constexpr int powers_of_step = 67 + 64;
inline WF_HIDDEN XorshiftMatrix power_of_step[powers_of_step];
inline WF_HIDDEN int known_powers = 0;

WF_NO_INSTRUMENT inline const XorshiftMatrix& steps_to_power(int n) {
  for (; known_powers <= n; ++known_powers) {
    for (int bit = 0; bit < 160; ++bit) {
      XorshiftBits& column = power_of_step[known_powers].column[bit];
      if (known_powers == 0) {
        XorshiftBits one = {};
        one.word[bit / 32] = 1u << bit % 32;
        column = step(one);
      } else {
        const XorshiftMatrix& root = power_of_step[known_powers - 1];
        column = multiply(root, root.column[bit]);
      }
    }
  }
  return power_of_step[n];
}

// Skips `count` times 2^`power` numbers of the xorshift part.
WF_NO_INSTRUMENT inline void skip_xorshift(unsigned (&v)[5], unsigned long long count, int power) {
  XorshiftBits bits = {{v[0], v[1], v[2], v[3], v[4]}};
  for (; count != 0; count >>= 1, ++power) {
    if ((count & 1) != 0) bits = multiply(steps_to_power(power), bits);
  }
  for (int i = 0; i < 5; ++i) v[i] = bits.word[i];
}

}  // namespace wf_random

inline void skipahead(unsigned long long count, curandStateXORWOW_t* state) {
  wf_random::skip_xorshift(state->v, count, 0);
  state->d += wf_random::weyl_step * static_cast<unsigned>(count);
}
// Skips `count` times 2^67 numbers: the period of d divides that.
inline void skipahead_sequence(unsigned long long count, curandStateXORWOW_t* state) {
  wf_random::skip_xorshift(state->v, count, 67);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence,
                        unsigned long long offset, curandStateXORWOW_t* state) {
  const unsigned low = (static_cast<unsigned>(seed) ^ 0xaad26b49u) * 1099087573u;
  const unsigned high = (static_cast<unsigned>(seed >> 32) ^ 0xf7dcefddu) * 2591861531u;
  *state = {};
  state->d = 6615241u + high + low;
  state->v[0] = 123456789u + low;
  state->v[1] = 362436069u ^ low;
  state->v[2] = 521288629u + high;
  state->v[3] = 88675123u ^ high;
  state->v[4] = 5783321u + low;
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}
inline unsigned curand(curandStateXORWOW_t* state) {
  const wf_random::XorshiftBits next =
      wf_random::step({{state->v[0], state->v[1], state->v[2], state->v[3], state->v[4]}});
  for (int i = 0; i < 5; ++i) state->v[i] = next.word[i];
  state->d += wf_random::weyl_step;
  return next.word[4] + state->d;
}
