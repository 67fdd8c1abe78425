// relu: max(x, 0), NaN kept. A copy: no tolerance.
#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct Relu {
  static constexpr bool elementwise = true;
  static Geometry geometry(const Call& call) { return pieces(call); }
  template <class A>
  static void row(A& a, const Call&, size_t row) {
    a.output(row, a.relu(a.input(0, row, piece_length)));
  }
};

}  // namespace

constexpr Reference relu_reference = make_reference<Relu>("relu");

}  // namespace warpfuzz
