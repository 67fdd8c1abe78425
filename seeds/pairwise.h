// Pairwise selection: rows that cover every pair of options of any two factors, where the full
// product would be too large. Knows nothing of cases. Deterministic.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace warpfuzz {

// One option per factor, by position.
using OptionRow = std::vector<size_t>;

// `options` holds the number of options of each factor, at least 1. Option 0 is the default; the
// row of defaults must be legal, and a legal row must stay legal when one of its options becomes
// the default. Every pair that is legal with defaults elsewhere is covered by some row; the whole
// product is returned where it has at most `full_product` rows (the legal ones of them).
std::vector<OptionRow> pairwise(std::span<const size_t> options,
                                const std::function<bool(const OptionRow&)>& legal,
                                size_t full_product);

}  // namespace warpfuzz
