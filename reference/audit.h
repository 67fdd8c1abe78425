// The oracle's check of itself: elements that campaigns meet, recomputed in multiprecision, must
// lie within the error bound that level 0 stated. Where one does not, every verdict is in doubt, so
// a campaign ends there and says that warpfuzz, not the kernel, is at fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "reference/oracle.h"
#include "reference/refinement.h"

namespace warpfuzz {

// Elements of the expectation that `choice` picks. Empty, or what is wrong.
std::string audit(const OutputExpectation& expected, size_t output, Refinement& refinement,
                  uint64_t choice);

}  // namespace warpfuzz
