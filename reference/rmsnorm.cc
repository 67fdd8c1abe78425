// rmsnorm over the last axis: x / sqrt(mean(x^2) + eps) * weight.
#include <cmath>

#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct RmsNorm {
  static Geometry geometry(const Call& call) { return last_axis_rows(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const size_t n = call.input(0).last_extent();
    const auto x = a.input(0, row, n);
    const auto mean_square = a.shared(a.mean(a.square(x)));
    const auto inverse = a.rsqrt(a.add(mean_square, a.attribute(call.real_attribute("eps"))));
    a.output(row, a.scale(x, inverse, a.input(1, 0, n)));
  }
  // With an infinity in the row the root is 0: finite elements give 0, or NaN where a kernel forms
  // inf / inf on the way.
  static void allow(const Call& call, OutputExpectation& y) {
    if (!call.input(0).has_special) return;
    const std::vector<double>& x = call.input(0).values;
    const size_t n = call.input(0).last_extent();
    for (size_t begin = 0; begin < x.size(); begin += n) {
      bool infinite = false;
      for (size_t j = begin; j < begin + n; ++j) infinite = infinite || std::isinf(x[j]);
      if (!infinite) continue;
      for (size_t j = begin; j < begin + n; ++j) y.allowed[j] |= class_nan;
    }
  }
};

}  // namespace

constexpr Reference rmsnorm_reference = make_reference<RmsNorm>("rmsnorm");

}  // namespace warpfuzz
