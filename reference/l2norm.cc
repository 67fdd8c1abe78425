// l2norm over the last axis: x / sqrt(sum of x^2 + eps).
#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct L2norm {
  static Geometry geometry(const Call& call) { return last_axis_rows(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const auto x = a.input(0, row, call.input(0).last_extent());
    const auto squares = a.shared(a.sum(a.square(x)));
    const auto eps = a.attribute(call.real_attribute("eps"));
    a.output(row, a.multiply(x, a.rsqrt(a.add(squares, eps))));
  }
  static void allow(const Call& call, OutputExpectation& y) { allow_nan_beside_infinity(call, y); }
};

}  // namespace

constexpr Reference l2norm_reference = make_reference<L2norm>("l2norm");

}  // namespace warpfuzz
