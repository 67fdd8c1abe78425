// cumsum along the last axis: y_i = sum of x_j, j <= i.
#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct Cumsum {
  static Geometry geometry(const Call& call) { return last_axis_rows(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    a.output(row, a.scan(a.input(0, row, call.input(0).last_extent())));
  }
};

}  // namespace

constexpr Reference cumsum_reference = make_reference<Cumsum>("cumsum");

}  // namespace warpfuzz
