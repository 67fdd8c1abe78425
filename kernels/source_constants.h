// The whole numbers in a kernel's source: tile widths, block sizes, the shapes it was tuned for. A
// campaign tries extents at and around them, since that is where special paths begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace warpfuzz {

inline constexpr size_t max_integer_constants = 64;
// From 3 to 2^31: smaller ones are everywhere.
bool is_telling_constant(int64_t value);

// Distinct integer literals that are telling, at most max_integer_constants: those of macros, then
// the others in order of appearance. Comments do not count. Any text is accepted.
std::vector<int64_t> integer_constants(std::string_view source);

}  // namespace warpfuzz
