// sum over the last axis; of nothing, 0.
#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct Sum {
  static Geometry geometry(const Call& call) { return single_elements(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const auto x = a.input(0, row, call.input(0).last_extent());
    a.output(row, a.spent(a.sum(x)));
  }
};

}  // namespace

constexpr Reference sum_reference = make_reference<Sum>("sum");

}  // namespace warpfuzz
