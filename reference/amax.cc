// amax: the maximum over the last axis; NaN if any element is.
#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct Amax {
  static Geometry geometry(const Call& call) { return single_elements(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const auto x = a.input(0, row, call.input(0).last_extent());
    a.output(row, a.greatest(x));
  }
};

}  // namespace

constexpr Reference amax_reference = make_reference<Amax>("amax");

}  // namespace warpfuzz
