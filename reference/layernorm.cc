// layernorm over the last axis: (x - mean) / sqrt(variance + eps) * weight + bias, the variance
// being the mean of the squared deviations.
#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct LayerNorm {
  static Geometry geometry(const Call& call) { return last_axis_rows(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const size_t n = call.input(0).last_extent();
    const auto moments = a.moments(a.input(0, row, n));
    const auto variance = a.shared(moments.variance);
    const auto inverse = a.rsqrt(a.add(variance, a.attribute(call.real_attribute("eps"))));
    const auto scaled = a.scale(moments.deviation, inverse, a.input(1, 0, n));
    a.output(row, a.add(scaled, a.input(2, 0, n)));
  }
};

}  // namespace

constexpr Reference layernorm_reference = make_reference<LayerNorm>("layernorm");

}  // namespace warpfuzz
