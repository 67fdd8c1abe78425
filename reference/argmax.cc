// argmax over the last axis: the index of the first of the largest elements; NaN counts as larger
// than any number.
#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct Argmax {
  static Geometry geometry(const Call& call) { return single_elements(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const auto x = a.input(0, row, call.input(0).last_extent());
    a.output(row, a.position_of_greatest(x));
  }
};

}  // namespace

constexpr Reference argmax_reference = make_reference<Argmax>("argmax");

}  // namespace warpfuzz
