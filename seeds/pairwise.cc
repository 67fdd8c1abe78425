#include "seeds/pairwise.h"

#include <algorithm>
#include <numeric>

#include "schemas/check.h"

namespace warpfuzz {
namespace {

class PairwiseSelection {
 public:
  PairwiseSelection(std::span<const size_t> options,
                    const std::function<bool(const OptionRow&)>& legal)
      : options_(options), legal_(legal), first_(options.size()) {
    std::exclusive_scan(options.begin(), options.end(), first_.begin(), size_t{0});
    total_ = first_.back() + options.back();
    uncovered_.assign(total_ * total_, 0);
  }

  std::vector<OptionRow> run() {
    collect_legal_pairs();
    for (size_t a = 0; a < total_; ++a) {
      for (size_t b = a + 1; b < total_; ++b) {
        if (uncovered(a, b)) rows_.push_back(extend(a, b));
      }
    }
    if (rows_.empty()) rows_.push_back(OptionRow(options_.size(), 0));
    return std::move(rows_);
  }

 private:
  // Options of all factors are numbered through.
  size_t factor(size_t option) const {
    const auto next = std::upper_bound(first_.begin(), first_.end(), option);
    return static_cast<size_t>(next - first_.begin()) - 1;
  }
  char& uncovered(size_t a, size_t b) {
    return uncovered_[std::min(a, b) * total_ + std::max(a, b)];
  }

  OptionRow row_of(size_t a, size_t b) const {
    OptionRow row(options_.size(), 0);
    for (size_t option : {a, b}) row[factor(option)] = option - first_[factor(option)];
    return row;
  }

  void collect_legal_pairs() {
    for (size_t a = 0; a < total_; ++a) {
      for (size_t b = a + 1; b < total_; ++b) {
        if (factor(a) != factor(b)) uncovered(a, b) = legal_(row_of(a, b));
      }
    }
  }

  // A row with these two options; each other factor takes the legal option that covers most.
  OptionRow extend(size_t a, size_t b) {
    OptionRow row = row_of(a, b);
    std::vector<size_t> chosen = {a, b};
    for (size_t f = 0; f < options_.size(); ++f) {
      if (f == factor(a) || f == factor(b)) continue;
      size_t best = 0;
      long best_gain = gain(first_[f], chosen);
      for (size_t option = 1; option < options_[f]; ++option) {
        const long g = gain(first_[f] + option, chosen);
        if (g <= best_gain) continue;
        row[f] = option;
        if (!legal_(row)) continue;
        best = option;
        best_gain = g;
      }
      row[f] = best;
      chosen.push_back(first_[f] + best);
    }
    for (size_t i : chosen) {
      for (size_t j : chosen) uncovered(i, j) = 0;
    }
    return row;
  }

  long gain(size_t option, const std::vector<size_t>& chosen) {
    return std::count_if(chosen.begin(), chosen.end(),
                         [&](size_t other) { return uncovered(option, other) != 0; });
  }

  std::span<const size_t> options_;
  const std::function<bool(const OptionRow&)>& legal_;
  std::vector<size_t> first_;
  size_t total_ = 0;
  std::vector<char> uncovered_;
  std::vector<OptionRow> rows_;
};

std::vector<OptionRow> whole_product(std::span<const size_t> options,
                                     const std::function<bool(const OptionRow&)>& legal) {
  std::vector<OptionRow> rows;
  OptionRow row(options.size(), 0);
  for (;;) {
    if (legal(row)) rows.push_back(row);
    size_t f = 0;
    while (f < row.size() && ++row[f] == options[f]) row[f++] = 0;
    if (f == row.size()) return rows;
  }
}

}  // namespace

std::vector<OptionRow> pairwise(std::span<const size_t> options,
                                const std::function<bool(const OptionRow&)>& legal,
                                size_t full_product) {
  WARPFUZZ_CHECK(!options.empty(), "no factors");
  WARPFUZZ_CHECK(legal(OptionRow(options.size(), 0)), "the defaults are not legal");
  size_t product = 1;
  for (size_t count : options) {
    WARPFUZZ_CHECK(count > 0, "a factor without options");
    product = std::min(product * std::min(count, full_product + 1), full_product + 1);
  }
  return product <= full_product ? whole_product(options, legal)
                                 : PairwiseSelection(options, legal).run();
}

}  // namespace warpfuzz
