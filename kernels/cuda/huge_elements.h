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
};

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
struct AllOnes {
  uint64_t ones;
  constexpr bool operator()(uint64_t, uint64_t bits) const { return bits == ones; }
};

}  // namespace warpfuzz::huge
