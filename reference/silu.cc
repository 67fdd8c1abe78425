// silu: x / (1 + exp(-x)).
#include <limits>

#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct Silu {
  static constexpr bool elementwise = true;
  static Geometry geometry(const Call& call) { return pieces(call); }
  template <class A>
  static void row(A& a, const Call&, size_t row) {
    const auto x = a.input(0, row, piece_length);
    a.output(row, a.divide(x, a.add(a.exp(a.negate(x)), a.exact(1))));
  }
  static void allow(const Call& call, OutputExpectation& y) {
    allow_limit_at_minus_infinity(call, y);
  }
};

}  // namespace

constexpr Reference silu_reference = make_reference<Silu>("silu");

}  // namespace warpfuzz
