// attention per head h: softmax(q k^T / sqrt(d)) v. Causal: query i sees key j iff
// j <= i + (n - m).
#include <algorithm>
#include <cmath>

#include "reference/reference.h"

namespace warpfuzz {
namespace {

size_t visible_keys(const Call& call, size_t row) {
  const size_t m = call.input(0).extent(1), n = call.input(1).extent(1);
  if (!call.boolean_attribute("causal")) return n;
  const int64_t last = static_cast<int64_t>(row % m + n) - static_cast<int64_t>(m);
  return static_cast<size_t>(std::clamp<int64_t>(last + 1, 0, static_cast<int64_t>(n)));
}

struct Attention {
  static Geometry geometry(const Call& call) { return last_axis_rows(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const size_t head = row / call.input(0).extent(1);
    const size_t d = call.input(0).last_extent();
    const size_t visible = visible_keys(call, row);
    if (visible == 0) return;  // see allow()
    const auto scores = a.scores(a.input(0, row, d), a.matrix(1, head), visible, a.inverse_root(d));
    const auto w = a.exp_shift(scores, a.maximum(scores));
    const DType storage =
        call.slack().half_probabilities ? call.input(0).dtype : call.contract().accumulator;
    a.output(row, a.weighted_mean(w, a.matrix(2, head), storage));
  }

  static void allow(const Call& call, OutputExpectation& o) {
    const size_t d = call.input(0).last_extent();
    const size_t m = call.input(0).extent(1), n = call.input(1).extent(1);
    for (size_t row = 0; row * d < o.value.size(); ++row) {
      const size_t visible = visible_keys(call, row);
      if (visible == 0) {  // NaN by the formula, 0 by the convention of masked kernels
        for (size_t t = row * d; t < (row + 1) * d; ++t) {
          o.allowed[t] = class_nan;
          allow_exact(o, t, 0);
        }
        continue;
      }
      // An additive mask lets NaN and infinity of unseen keys through, a skipped block does not.
      const size_t head = row / m;
      if (visible < n && (special_beyond(call.matrix(1, head), visible) ||
                          special_beyond(call.matrix(2, head), visible))) {
        for (size_t t = row * d; t < (row + 1) * d; ++t) o.allowed[t] |= class_nan;
      }
    }
  }

  static bool special_beyond(const MatrixView& m, size_t visible) {
    if (!m.operand->has_special) return false;
    return std::any_of(m.values + visible * m.columns, m.values + m.rows * m.columns,
                       [](double value) { return !std::isfinite(value); });
  }
};

}  // namespace

constexpr Reference attention_reference = make_reference<Attention>("attention");

}  // namespace warpfuzz
