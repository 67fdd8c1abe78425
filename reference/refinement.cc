#include "reference/refinement.h"

#include <algorithm>
#include <cmath>

#include "reference/reference.h"

namespace warpfuzz {
namespace {

constexpr double hard_lambda = 8;

}  // namespace

void Refinement::reset(const Reference& reference) {
  reference_ = &reference;
  for (Level& level : levels_) {
    level.row = none;
    level.summed = false;
  }
  looked_row_ = none;
  looked_sums_ = false;
  doubted_.clear();
}

double Refinement::error_scale(int level) {
  // 2^-53 against 2^-94 and 2^-160, with room for the constants of the two arithmetics.
  static constexpr double scales[] = {1, 0x1p-40, 0x1p-100};
  return scales[level];
}

size_t Refinement::row_of(size_t output, size_t element) const {
  if (reference_->outputs[output] == OutputForm::sums) return all_rows;
  return element / reference_->length(call_, output);
}

template <class T>
void Refinement::compute(Level& level, void (*row_of)(Plain<T>&, const Call&, size_t), size_t row) {
  const size_t outputs = call_.output_count();
  level.rows.resize(outputs);
  if (row != all_rows) {
    for (std::vector<Refined>& values : level.rows) values.clear();
    Plain<T> number(call_, level.rows);
    row_of(number, call_, row);
    return;
  }
  typename Plain<T>::Sums sums(outputs);
  for (size_t i = 0; i < outputs; ++i) {
    if (reference_->outputs[i] == OutputForm::sums) sums[i].assign(call_.output_size(i), T(0));
  }
  std::vector<std::vector<Refined>> unused(outputs);
  Plain<T> number(call_, unused, &sums);
  const size_t rows = reference_->geometry(call_).rows;
  for (size_t i = 0; i < rows; ++i) row_of(number, call_, i);
  level.sums.assign(outputs, {});
  for (size_t i = 0; i < outputs; ++i) {
    for (const T& sum : sums[i]) level.sums[i].push_back(NumberFunctions<T>::refined(sum));
  }
}

void Refinement::compute(int level, size_t row) {
  Level& kept = levels_[level - 1];
  if (row == all_rows) {
    if (kept.summed) return;
    kept.summed = true;
  } else {
    if (kept.row == row) return;
    kept.row = row;
  }
  if (level == 1) {
    compute(kept, reference_->double_double, row);
  } else {
    compute(kept, reference_->multiprecision, row);
  }
}

std::optional<Refined> Refinement::value(int level, size_t output, size_t element) {
  if (level == 1 && reference_->double_double == nullptr) return std::nullopt;
  for (size_t i = 0; i < call_.input_count(); ++i) {
    if (call_.input(i).has_special) return std::nullopt;
  }
  const size_t row = row_of(output, element);
  compute(level, row);
  const Level& kept = levels_[level - 1];
  const std::vector<Refined>& values = row == all_rows ? kept.sums[output] : kept.rows[output];
  const size_t position = row == all_rows ? element : element % reference_->length(call_, output);
  if (position >= values.size()) return std::nullopt;
  const Refined value = values[position];
  if (!std::isfinite(value.high) || !std::isfinite(value.low)) return std::nullopt;
  return value;
}

void Refinement::look_again(size_t row) {
  if (row == all_rows ? looked_sums_ : looked_sums_ || looked_row_ == row) return;
  if (doubted_.empty()) doubted_.reset(*reference_, call_, first_look_lambda, true);
  if (row == all_rows) {
    looked_sums_ = true;
    doubted_.all_rows();
  } else {
    looked_row_ = row;
    doubted_.one_row(row);
  }
}

Refinement::SecondLook Refinement::second_look(size_t output, size_t element) {
  look_again(row_of(output, element));
  const OutputExpectation& doubted = doubted_.outputs()[output];
  const double tolerance = doubted.tolerance[element], certain = doubted.certain[element];
  return {tolerance, std::min(tolerance * hard_lambda / first_look_lambda, certain), certain};
}

}  // namespace warpfuzz
