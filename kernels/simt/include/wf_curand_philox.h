// The counter-based generator Philox4x32 with ten rounds (Salmon, Moraes, Dror and Shaw, "Parallel
// random numbers: as easy as 1, 2, 3", 2011), with the state handling of cuRAND. Part of
// <curand_kernel.h>.
#pragma once

#include "wf_integers.h"

struct curandStatePhilox4_32_10 {
  uint4 counter;
  uint4 output;  // of the counter: the numbers from `next` on are not yet given out
  uint2 key;
  unsigned next;
  bool has_spare, has_spare_double;  // of the normal distribution
  float spare;
  double spare_double;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

namespace wf_random {

WF_INTRINSIC uint4 philox_round(uint4 c, uint2 key) {
  constexpr unsigned first = 0xd2511f53u, second = 0xcd9e8d57u;
  return {__umulhi(second, c.z) ^ c.y ^ key.x, second * c.z, __umulhi(first, c.x) ^ c.w ^ key.y,
          first * c.x};
}
inline uint4 philox(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    counter = philox_round(counter, key);
    key.x += 0x9e3779b9u;
    key.y += 0xbb67ae85u;
  }
  return counter;
}
// The words of the counter from `low` on, as one number.
WF_INTRINSIC void add_to_counter(uint4& c, unsigned long long steps, bool upper_half) {
  unsigned long long low = static_cast<unsigned long long>(c.y) << 32 | c.x;
  unsigned long long high = static_cast<unsigned long long>(c.w) << 32 | c.z;
  if (upper_half) {
    high += steps;
  } else {
    low += steps;
    if (low < steps) ++high;
  }
  c = {static_cast<unsigned>(low), static_cast<unsigned>(low >> 32), static_cast<unsigned>(high),
       static_cast<unsigned>(high >> 32)};
}
WF_INTRINSIC unsigned word(uint4 v, unsigned i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}
WF_INTRINSIC void refill(curandStatePhilox4_32_10_t* state) {
  add_to_counter(state->counter, 1, false);
  state->output = philox(state->counter, state->key);
}

}  // namespace wf_random

// Skips `count` numbers.
inline void skipahead(unsigned long long count, curandStatePhilox4_32_10_t* state) {
  state->next += static_cast<unsigned>(count & 3);
  count /= 4;
  if (state->next > 3) {
    ++count;
    state->next -= 4;
  }
  wf_random::add_to_counter(state->counter, count, false);
  state->output = wf_random::philox(state->counter, state->key);
}
// Skips `count` times 2^66 numbers.
inline void skipahead_sequence(unsigned long long count, curandStatePhilox4_32_10_t* state) {
  wf_random::add_to_counter(state->counter, count, true);
  state->output = wf_random::philox(state->counter, state->key);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence,
                        unsigned long long offset, curandStatePhilox4_32_10_t* state) {
  *state = {};
  state->key = {static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)};
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}
inline unsigned curand(curandStatePhilox4_32_10_t* state) {
  const unsigned result = wf_random::word(state->output, state->next);
  if (++state->next == 4) {
    wf_random::refill(state);
    state->next = 0;
  }
  return result;
}
// The next four numbers.
inline uint4 curand4(curandStatePhilox4_32_10_t* state) {
  const uint4 now = state->output;
  wf_random::refill(state);
  const auto at = [&](unsigned i) {
    return i < 4 ? wf_random::word(now, i) : wf_random::word(state->output, i - 4);
  };
  const unsigned first = state->next;
  return {at(first), at(first + 1), at(first + 2), at(first + 3)};
}
