// matmul: c[m,n] = sum over k of a[m,k] b[k,n].
#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct Matmul {
  static constexpr bool product = true;
  static Geometry geometry(const Call& call) { return last_axis_rows(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const auto b = a.matrix(1, 0);
    a.output(row, a.times(a.input(0, row, call.input(0).last_extent()), b));
  }
};

}  // namespace

constexpr Reference matmul_reference = make_reference<Matmul>("matmul", "gemm");

}  // namespace warpfuzz
