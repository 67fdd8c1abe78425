// gelu: x/2 (1 + erf(x / sqrt 2)), which may be x/2 erfc(-x / sqrt 2), or with attribute
// approximate = tanh x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct Gelu {
  static constexpr bool elementwise = true;
  static Geometry geometry(const Call& call) { return pieces(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const auto x = a.input(0, row, piece_length);
    const auto half = a.multiply(x, a.exact(0.5));
    if (call.choice_attribute("approximate") == "tanh") {
      const auto cubic = a.multiply(a.multiply(a.square(x), x), a.constant(Constant::gelu_cubic));
      const auto argument = a.multiply(a.add(x, cubic), a.constant(Constant::root_two_over_pi));
      a.output(row, a.multiply(half, a.add(a.tanh(argument), a.exact(1))));
    } else {
      const auto argument = a.multiply(x, a.constant(Constant::root_half));
      a.output(row, a.multiply(half, a.one_plus_erf(argument)));
    }
  }
  static void allow(const Call& call, OutputExpectation& y) {
    allow_limit_at_minus_infinity(call, y);
  }
};

}  // namespace

constexpr Reference gelu_reference = make_reference<Gelu, DoubleDoubleLevel::skipped>("gelu");

}  // namespace warpfuzz
