#include "reference/refinement.h"

#include <algorithm>
#include <cmath>

#include "reference/reference.h"

namespace warpfuzz {
namespace {

constexpr double hard_lambda = 8;
constexpr double soft_lambda = 6;

}  // namespace

void Refinement::reset(const Reference& reference) {
  reference_ = &reference;
  for (ExactRow& level : levels_) level.row = none;
  looked_row_ = none;
  doubted_.value.clear();
}

double Refinement::error_scale(int level) {
  // 2^-53 against 2^-94 and 2^-160, with room for the constants of the two arithmetics.
  static constexpr double scales[] = {1, 0x1p-40, 0x1p-100};
  return scales[level];
}

const std::vector<Refined>& Refinement::exact_row(int level, size_t row) {
  ExactRow& kept = levels_[level - 1];
  if (kept.row == row) return kept.values;
  kept.row = row;
  kept.values.clear();
  if (level == 1) {
    Plain<DoubleDouble> number(call_, kept.values);
    reference_->double_double(number, call_, row);
  } else {
    Plain<Multiprecision> number(call_, kept.values);
    reference_->multiprecision(number, call_, row);
  }
  return kept.values;
}

std::optional<Refined> Refinement::value(int level, size_t element) {
  if (level == 1 && reference_->double_double == nullptr) return std::nullopt;
  for (size_t i = 0; i < call_.input_count(); ++i) {
    if (call_.input(i).has_special) return std::nullopt;
  }
  const size_t length = reference_->geometry(call_).length;
  const std::vector<Refined>& row = exact_row(level, element / length);
  if (element % length >= row.size()) return std::nullopt;
  const Refined value = row[element % length];
  if (!std::isfinite(value.high) || !std::isfinite(value.low)) return std::nullopt;
  return value;
}

void Refinement::look_again(size_t row) {
  if (looked_row_ == row) return;
  looked_row_ = row;
  if (doubted_.value.empty()) doubted_.reset(call_.output_dtype(), call_.output_size());
  const size_t length = reference_->geometry(call_).length;
  Tracked tracked(call_, doubted_, arena_, length, soft_lambda, true);
  reference_->tracked(tracked, call_, row);
}

Refinement::SecondLook Refinement::second_look(size_t element) {
  look_again(element / reference_->geometry(call_).length);
  const double tolerance = doubted_.tolerance[element], certain = doubted_.certain[element];
  return {tolerance, std::min(tolerance * hard_lambda / soft_lambda, certain), certain};
}

}  // namespace warpfuzz
