// What is done with one element of a huge tensor; the loops are device code (huge_tensors.cu).
// Copies of these structs are a kernel's arguments.
#pragma once

#include <cstdint>

#include "reference/float_encoding.h"
#include "seeds/random_laws.h"

namespace warpfuzz::huge {

// The order is that of the attribute `task`.
enum class Task : int64_t {
  fill,            // writes output 0, following the law
  count_other,     // how many elements of input 0 are not what the law gives
  count_all_ones,  // how many elements of input 0 have all bits set, as poison has
  count_marks,     // how many elements of input 0 are marks
  mark_all_ones,   // writes marks over the elements of output 0 that have all bits set
};

// The low bytes are a mark, another poison.
inline constexpr uint64_t mark = 0x5A5A'5A5A'5A5A'5A5A;
// Words of a count: how many elements, the lowest index (2^64 - 1 for none), and a sum over all
// indices that tells sets of as many elements apart.
inline constexpr int64_t count_words = 3;
constexpr uint64_t index_hash(uint64_t i) { return mix(i + 1); }

// Bits of the elements of a tensor that follows a law.
struct Elements {
  RandomLaw law;
  Encoding format;
  constexpr uint64_t operator()(uint64_t i) const { return encode_floating(format, law.value(i)); }
};

// Which elements are counted.
struct Differs {
  Elements expected;
  constexpr bool operator()(uint64_t i, uint64_t bits) const { return bits != expected(i); }
};
struct Equals {
  uint64_t wanted;
  constexpr bool operator()(uint64_t, uint64_t bits) const { return bits == wanted; }
};

}  // namespace warpfuzz::huge
