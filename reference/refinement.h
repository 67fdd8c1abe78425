// Rows of an output recomputed on demand: in double-double or multiprecision where level 0 leaves
// an element open, and with the second look where an element exceeded its tolerance. The row
// computed last is kept for each, since elements are judged in ascending order. Not thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "reference/call.h"
#include "reference/evaluation.h"
#include "reference/oracle.h"
#include "reference/plain.h"

namespace warpfuzz {

struct Reference;

class Refinement {
 public:
  explicit Refinement(const Call& call) : call_(call) {}
  void reset(const Reference& reference);  // the call has been assigned

  // The element at level 1 or 2; nothing if that level cannot compute it (operands that are not
  // finite, functions that double-double lacks).
  std::optional<Refined> value(int level, size_t output, size_t element);
  // The factor by which the level's error is smaller than level 0's bound (NUMERICS.md, "Levels").
  static double error_scale(int level);

  struct SecondLook {
    double tolerance;  // reductions doubted, lambda 6
    double hard;       // the same, lambda 8
    double certain;
  };
  SecondLook second_look(size_t output, size_t element);

 private:
  static constexpr size_t none = ~size_t{0};
  static constexpr size_t all_rows = none - 1;
  struct Level {
    size_t row = none;                       // that `rows` holds
    std::vector<std::vector<Refined>> rows;  // per output
    bool summed = false;                     // `sums` hold something
    std::vector<std::vector<Refined>> sums;  // per output
  };
  template <class T>
  void compute(Level& level, void (*row_of)(Plain<T>&, const Call&, size_t), size_t row);
  void compute(int level, size_t row);
  // The row that an element is part of; all_rows for an element of sums.
  size_t row_of(size_t output, size_t element) const;
  void look_again(size_t row);

  const Call& call_;
  const Reference* reference_ = nullptr;
  Level levels_[2];
  size_t looked_row_ = none;
  bool looked_sums_ = false;
  Evaluation doubted_;
};

}  // namespace warpfuzz
