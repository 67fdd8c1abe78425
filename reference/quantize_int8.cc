// quantize_int8, symmetric, per row: scale = max|x| / 127, codes = x / scale rounded to nearest. A
// row of zeros has scale 0 and codes 0. The contract says nothing of a row with NaN or infinity.
#include <algorithm>
#include <cmath>

#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct QuantizeInt8 {
  static constexpr OutputForm outputs[] = {OutputForm::rows, OutputForm::rows};
  static Geometry geometry(const Call& call) { return last_axis_rows(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const size_t n = call.input(0).last_extent();
    const double reach = largest(call, row, n);
    if (reach == 0 || !std::isfinite(reach)) return;  // see allow()
    const auto x = a.input(0, row, n);
    const auto scale = a.divide(a.greatest(a.magnitude(x)), a.exact(127));
    a.output(row, a.divide(x, scale));
    a.output(row, scale, 1);
  }
  static void allow(const Call& call, std::span<OutputExpectation> y) {
    if (!call.input(0).has_special) return;
    const size_t n = call.input(0).last_extent();
    for (size_t row = 0; row < y[1].value.size(); ++row) {
      if (std::isfinite(largest(call, row, n))) continue;
      leave_open(y[0], row * n, n);
      leave_open(y[1], row, 1);
    }
  }

  // Codes times scale for x; codes are off by up to half.
  static Approximation approximation(const Call& call, std::span<const std::vector<double>> y,
                                     std::span<const OutputExpectation> expected) {
    Approximation a{y[0], call.input(0).values, std::vector<double>(y[0].size())};
    const size_t n = call.input(0).last_extent();
    for (size_t i = 0; i < y[0].size(); ++i) {
      const double scale = expected[1].value[i / n];
      a.observed[i] *= y[1][i / n];
      a.variance[i] = scale * scale / 12;
    }
    return a;
  }

  // NaN or infinite for a row that holds such.
  static double largest(const Call& call, size_t row, size_t n) {
    const double* x = call.input(0).values.data() + row * n;
    double largest = 0;
    for (size_t i = 0; i < n; ++i) {
      if (!std::isfinite(x[i])) return std::fabs(x[i]);
      largest = std::max(largest, std::fabs(x[i]));
    }
    return largest;
  }
};

}  // namespace

constexpr Reference quantize_int8_reference = make_reference<QuantizeInt8>("quantize_int8");

}  // namespace warpfuzz
