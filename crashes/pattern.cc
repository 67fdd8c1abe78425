#include "crashes/pattern.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <iterator>
#include <optional>
#include <vector>

namespace warpfuzz {
namespace {

constexpr std::array<std::string_view, 10> pattern_names = {
    "none",      "everything", "one element", "rows",     "columns",
    "last tile", "border",     "suffix",      "periodic", "scattered"};

using Positions = std::span<const size_t>;

// The common distance of at least three positions.
std::optional<size_t> step_of(Positions positions) {
  if (positions.size() < 3) return std::nullopt;
  const size_t step = positions[1] - positions[0];
  for (size_t i = 2; i < positions.size(); ++i) {
    if (positions[i] - positions[i - 1] != step) return std::nullopt;
  }
  return step;
}

// All multiples of a step below `total`, shifted: "% 4 == 3".
std::optional<std::string> residue_class(Positions positions, size_t total) {
  const std::optional<size_t> step = step_of(positions);
  if (!step || positions.front() >= *step || positions.back() + *step < total) return std::nullopt;
  return fmt::format("% {} == {}", *step, positions.front());
}

bool is_contiguous(Positions positions) {
  return positions.back() - positions.front() + 1 == positions.size();
}
bool is_suffix(Positions positions, size_t total) {
  return positions.front() > 0 && positions.back() + 1 == total && is_contiguous(positions);
}

// Some of the rows, columns or elements 0 .. total-1 in words. `noun` is singular.
std::string describe(Positions positions, size_t total, std::string_view noun) {
  if (positions.size() == total) return fmt::format("every {}", noun);
  if (positions.size() == 1) return fmt::format("{} {}", noun, positions[0]);
  if (is_suffix(positions, total)) return fmt::format("{}s >= {}", noun, positions[0]);
  if (is_contiguous(positions)) {
    if (positions[0] == 0) return fmt::format("{}s < {}", noun, positions.size());
    return fmt::format("{}s {} to {}", noun, positions[0], positions.back());
  }
  if (const auto residues = residue_class(positions, total)) {
    return fmt::format("{}s {}", noun, *residues);
  }
  return fmt::format("{} of {} {}s, the first {}", positions.size(), total, noun, positions[0]);
}

struct Row {
  size_t number = 0;
  std::vector<size_t> columns;  // offending ones
};

// Offending elements of one output as a matrix of rows along the last axis.
class Region {
 public:
  Region(std::span<const int64_t> shape, Positions offending) {
    for (size_t i = 0; i < shape.size(); ++i) {
      const size_t extent = static_cast<size_t>(shape[i]);
      (i + 1 == shape.size() ? column_count_ : row_count_) *= extent;
    }
    for (size_t element : offending) {
      const size_t number = element / column_count_;
      if (rows_.empty() || rows_.back().number != number) {
        rows_.push_back({number, {}});
        row_numbers_.push_back(number);
      }
      rows_.back().columns.push_back(element % column_count_);
    }
  }

  // Whole rows, or the same columns in each row.
  std::optional<Pattern> rectangle() const {
    const std::vector<size_t>& columns = rows_.front().columns;
    for (const Row& row : rows_) {
      if (row.columns != columns) return std::nullopt;
    }
    const std::string rows_text = describe(row_numbers_, row_count_, "row");
    if (columns.size() == column_count_) return Pattern{PatternClass::rows, rows_text};
    if (row_count_ == 1) {
      return Pattern{PatternClass::columns, describe(columns, column_count_, "element")};
    }
    const bool is_tile = is_suffix(row_numbers_, row_count_) && is_suffix(columns, column_count_);
    return Pattern{is_tile ? PatternClass::last_tile : PatternClass::columns,
                   fmt::format("{} of {}", describe(columns, column_count_, "column"), rows_text)};
  }

  // The last columns of the first rows, and all of the rows after them.
  std::optional<Pattern> border() const {
    const std::vector<size_t>& columns = rows_.front().columns;
    if (rows_.size() != row_count_ || !is_suffix(columns, column_count_)) return std::nullopt;
    size_t whole_from = 0;
    while (rows_[whole_from].columns == columns) ++whole_from;
    for (size_t row = whole_from; row < rows_.size(); ++row) {
      if (rows_[row].columns.size() != column_count_) return std::nullopt;
    }
    return Pattern{PatternClass::border, fmt::format("columns >= {} of every row and rows >= {}",
                                                     columns.front(), whole_from)};
  }

 private:
  size_t row_count_ = 1;
  size_t column_count_ = 1;
  std::vector<Row> rows_;
  std::vector<size_t> row_numbers_;
};

std::string scattered(std::span<const int64_t> shape, Positions offending, size_t size) {
  return fmt::format("{} of {} elements, the first {}, the last {}", offending.size(), size,
                     format_index(shape, offending.front()), format_index(shape, offending.back()));
}

}  // namespace

std::string_view name(PatternClass pattern) { return pattern_names[static_cast<size_t>(pattern)]; }

Pattern classify(std::span<const int64_t> shape, std::span<const size_t> offending) {
  size_t size = 1;
  for (int64_t extent : shape) size *= static_cast<size_t>(extent);
  if (offending.empty()) return {PatternClass::none, "no element"};
  if (offending.size() == size) {
    return {PatternClass::everything,
            size == 1 ? "the only element" : fmt::format("all {} elements", size)};
  }
  if (offending.size() == 1) {
    return {PatternClass::one_element,
            fmt::format("one element {} of {}", format_index(shape, offending[0]), size)};
  }
  const Region region(shape, offending);
  if (auto pattern = region.rectangle()) return *pattern;
  if (auto pattern = region.border()) return *pattern;
  if (is_suffix(offending, size)) {
    return {PatternClass::suffix,
            fmt::format("elements >= {} of {} in row-major order", offending[0], size)};
  }
  if (const auto residues = residue_class(offending, size)) {
    return {PatternClass::periodic, fmt::format("elements {} in row-major order", *residues)};
  }
  return {PatternClass::scattered, scattered(shape, offending, size)};
}

std::string format_index(std::span<const int64_t> shape, size_t element) {
  std::vector<size_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<size_t>(shape[axis]);
    index[axis] = element % extent;
    element /= extent;
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

}  // namespace warpfuzz
