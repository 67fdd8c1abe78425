// sigmoid: 1 / (1 + exp(-x)).
#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct Sigmoid {
  static constexpr bool elementwise = true;
  static Geometry geometry(const Call& call) { return pieces(call); }
  template <class A>
  static void row(A& a, const Call&, size_t row) {
    const auto x = a.input(0, row, piece_length);
    a.output(row, a.reciprocal(a.add(a.exp(a.negate(x)), a.exact(1))));
  }
};

}  // namespace

constexpr Reference sigmoid_reference = make_reference<Sigmoid>("sigmoid");

}  // namespace warpfuzz
