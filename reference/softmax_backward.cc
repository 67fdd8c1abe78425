// softmax_backward over the last axis: y (dy - sum of y dy), the vector-Jacobian product of a
// softmax with output y.
#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct SoftmaxBackward {
  static Geometry geometry(const Call& call) { return last_axis_rows(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const size_t n = call.input(0).last_extent();
    const auto y = a.input(0, row, n);
    const auto dy = a.input(1, row, n);
    a.output(row, a.times_difference(y, dy, a.shared(a.sum(a.multiply(y, dy)))));
  }
};

}  // namespace

constexpr Reference softmax_backward_reference =
    make_reference<SoftmaxBackward>("softmax_backward");

}  // namespace warpfuzz
