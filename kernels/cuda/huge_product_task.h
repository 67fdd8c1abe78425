// What huge_product.cu does, and the forms of what it gives; shared by host and device code.
#pragma once

#include <cstdint>

#include "reference/product_rule.h"

namespace warpfuzz::huge {

// The order is that of the attribute `task`. Tensors are contiguous; judge and expect have the
// inputs a [m,k], b [k,n], c [m,n] (observed), the words of a ProductRule as float64, and numbers
// of rows.
enum class ProductTask : int64_t {
  magnitudes,  // of input 0, [smallest nonzero, largest, how many are not finite], as uint64 words,
               // the first two the bits of doubles
  judge,       // a RowTally, of one int64 word, for each row of c
  expect,      // float64 [rows,n,expectation_words]: what elements of the rows asked for must be
};

// Elements of a row that are outside what is accepted, or that the sums leave open.
struct RowTally {
  uint32_t outside = 0;
  uint32_t open = 0;
};
static_assert(sizeof(RowTally) == sizeof(uint64_t));

// Value, error, tolerance, classes.
inline constexpr int64_t expectation_words = 4;
constexpr double pack_classes(uint8_t always, uint8_t possibly) { return always + 16.0 * possibly; }

static_assert(sizeof(ProductRule) % sizeof(double) == 0);

}  // namespace warpfuzz::huge
