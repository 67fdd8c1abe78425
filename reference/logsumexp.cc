// logsumexp over the last axis: max + log(sum exp(x - max)).
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct Logsumexp {
  static Geometry geometry(const Call& call) { return single_elements(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const auto x = a.input(0, row, call.input(0).last_extent());
    const auto maximum = a.maximum(x);
    const auto sum = a.spent(a.sum(a.exp_shift(x, maximum)));
    a.output(row, a.add(a.log(sum), maximum));
  }
  // An infinite maximum: the limit, which is that infinity, or NaN by the formula.
  static void allow(const Call& call, OutputExpectation& y) {
    if (!call.input(0).has_special) return;
    const std::vector<double>& x = call.input(0).values;
    const size_t n = call.input(0).last_extent();
    for (size_t row = 0; row < y.value.size(); ++row) {
      double highest = -std::numeric_limits<double>::infinity();
      bool nan = false;
      for (size_t j = row * n; j < (row + 1) * n; ++j) {
        highest = std::max(highest, x[j]);
        nan = nan || std::isnan(x[j]);
      }
      if (nan || !std::isinf(highest)) continue;
      y.allowed[row] |= highest > 0 ? class_positive_infinity : class_negative_infinity;
    }
  }
};

}  // namespace

constexpr Reference logsumexp_reference = make_reference<Logsumexp>("logsumexp");

}  // namespace warpfuzz
