// layernorm_backward over the last axis: the gradients of layernorm with respect to x,
// (g - mean(g) - d mean(g d)) / s with g = dy weight, s = sqrt(variance + eps), d = (x - mean(x)) /
// s, to the weight, the sum of dy d over the rows, and to the bias, that of dy. Kernels also scale
// by n inside and divide by it at the end.
#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct LayerNormBackward {
  static constexpr OutputForm outputs[] = {OutputForm::rows, OutputForm::sums, OutputForm::sums};
  static Geometry geometry(const Call& call) { return last_axis_rows(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const size_t n = call.input(0).last_extent();
    const auto dy = a.input(0, row, n);
    const auto g = a.multiply(dy, a.input(2, 0, n));
    const auto moments = a.moments(a.input(1, row, n));
    const auto variance = a.shared(moments.variance);
    const auto inverse = a.rsqrt(a.add(variance, a.attribute(call.real_attribute("eps"))));
    const auto d = a.multiply(moments.deviation, inverse);
    const auto mean_g = a.shared(a.mean(g));
    const auto mean_gd = a.shared(a.mean(a.multiply(g, d)));
    const auto along_d = a.negate(a.multiply(d, mean_gd));
    const auto along_1 = a.negate(a.broadcast(mean_g, n));
    a.output(row, a.multiply(a.sum_of(g, along_1, along_d, static_cast<double>(n)), inverse));
    a.add_to(1, 0, a.scale(moments.deviation, inverse, dy));
    a.add_to(2, 0, dy);
  }
};

}  // namespace

constexpr Reference layernorm_backward_reference =
    make_reference<LayerNormBackward>("layernorm_backward");

}  // namespace warpfuzz
