// rmsnorm over the last axis: x / sqrt(mean(x^2) + eps) * weight.
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
  static void allow(const Call& call, OutputExpectation& y) { allow_nan_beside_infinity(call, y); }
};

}  // namespace

constexpr Reference rmsnorm_reference = make_reference<RmsNorm>("rmsnorm");

}  // namespace warpfuzz
