// Which elements of an output are wrong, in words: the shape of the failing region is often the
// whole diagnosis ("columns >= 1024 of every row": the tail is not masked). For reports only: the
// same fault shows as several patterns when a case shrinks, so signatures leave it out
// (signature.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace warpfuzz {

enum class PatternClass : uint8_t {
  none,  // nothing offends
  everything,
  one_element,
  rows,       // whole rows
  columns,    // the same columns in each row concerned
  last_tile,  // the last columns of the last rows
  border,     // the last columns of every row and the last rows
  suffix,     // everything from some element on, in row-major order
  periodic,   // every k-th element, in row-major order
  scattered,
};
std::string_view name(PatternClass pattern);

struct Pattern {
  PatternClass pattern = PatternClass::none;
  std::string sentence;  // "columns >= 1024 of every row"
};

// `offending` holds row-major element indices, ascending, without repetition, all inside `shape`.
// A row runs along the last axis; rows are numbered through over all other axes.
Pattern classify(std::span<const int64_t> shape, std::span<const size_t> offending);

// "[3, 17]"; "[]" for a scalar.
std::string format_index(std::span<const int64_t> shape, size_t element);

}  // namespace warpfuzz
