// tanh.
#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct Tanh {
  static constexpr bool elementwise = true;
  static Geometry geometry(const Call& call) { return pieces(call); }
  template <class A>
  static void row(A& a, const Call&, size_t row) {
    a.output(row, a.tanh(a.input(0, row, piece_length)));
  }
};

}  // namespace

constexpr Reference tanh_reference = make_reference<Tanh, DoubleDoubleLevel::skipped>("tanh");

}  // namespace warpfuzz
