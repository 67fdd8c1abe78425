// Choices of the structured mutations. The same generator makes the same choices everywhere.
#pragma once

#include <cstdint>
#include <iterator>

#include "schemas/mutation.h"

namespace warpfuzz {

inline uint64_t below(Random& random, uint64_t count) {
  if (count <= 1) return 0;
  const uint64_t high = random();
  return (high << 30 ^ random()) % count;
}
inline bool one_in(Random& random, uint64_t count) { return below(random, count) == 0; }

template <class Container>
auto& pick(Random& random, Container& container) {
  return container[below(random, std::size(container))];
}

}  // namespace warpfuzz
