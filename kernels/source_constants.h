// The whole numbers in a kernel's source: tile widths, block sizes, the shapes it was tuned for. A
// campaign tries extents at and around them, since that is where special paths begin.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace warpfuzz {

// Distinct integer literals from 3 to 2^31, at most 64: those of macros, then the others in order
// of appearance. Comments do not count. Any text is accepted.
std::vector<int64_t> integer_constants(std::string_view source);

}  // namespace warpfuzz
