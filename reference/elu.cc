// elu: x where x > 0, else alpha (exp(x) - 1). The subtraction is the definition's: kernels need
// not call expm1.
#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct Elu {
  static constexpr bool elementwise = true;
  static Geometry geometry(const Call& call) { return pieces(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const auto x = a.input(0, row, piece_length);
    const auto alpha = a.attribute(call.real_attribute("alpha"));
    const auto below = a.multiply(a.subtract(a.exp(x), a.exact(1)), alpha);
    a.output(row, a.where_positive(x, x, below));
  }
};

}  // namespace

constexpr Reference elu_reference = make_reference<Elu>("elu");

}  // namespace warpfuzz
