// silu_row_sum over the last axis: silu(u) + 0.01 * sum of silu(u), where silu(u) = u / (1 +
// exp(-u)).
#include <cmath>

#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct SiluRowSum {
  static Geometry geometry(const Call& call) { return last_axis_rows(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const auto u = a.input(0, row, call.input(0).last_extent());
    const auto quotient = a.divide(u, a.add(a.exp(a.negate(u)), a.exact(1)));
    const auto silu = a.zero_at_minus_infinity(u, quotient);
    const auto sum = a.shared(a.sum(silu));
    a.output(row, a.add(silu, a.multiply(sum, a.constant(Constant::one_hundredth))));
  }
  // silu(-infinity): the limit 0, or NaN by the formula; then the whole row is.
  static void allow(const Call& call, OutputExpectation& y) {
    if (!call.input(0).has_special) return;
    const std::vector<double>& u = call.input(0).values;
    const size_t n = call.input(0).last_extent();
    for (size_t i = 0; i < u.size(); ++i) {
      if (!std::isinf(u[i]) || u[i] > 0) continue;
      const size_t begin = i / n * n;
      for (size_t j = begin; j < begin + n; ++j) y.allowed[j] |= class_nan;
    }
  }
};

}  // namespace

constexpr Reference silu_row_sum_reference = make_reference<SiluRowSum>("silu_row_sum");

}  // namespace warpfuzz
