// leaky_relu: x where x > 0, else negative_slope x. NaN kept.
#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct LeakyRelu {
  static constexpr bool elementwise = true;
  static Geometry geometry(const Call& call) { return pieces(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const auto x = a.input(0, row, piece_length);
    const auto slope = a.attribute(call.real_attribute("negative_slope"));
    a.output(row, a.where_positive(x, x, a.multiply(x, slope)));
  }
};

}  // namespace

constexpr Reference leaky_relu_reference = make_reference<LeakyRelu>("leaky_relu");

}  // namespace warpfuzz
