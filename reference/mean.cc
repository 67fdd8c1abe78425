// mean over the last axis.
#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct Mean {
  static Geometry geometry(const Call& call) { return single_elements(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const auto x = a.input(0, row, call.input(0).last_extent());
    a.output(row, a.spent(a.mean(x)));
  }
};

}  // namespace

constexpr Reference mean_reference = make_reference<Mean>("mean");

}  // namespace warpfuzz
