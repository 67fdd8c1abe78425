// w8a8_matmul: c[m,n] = (sum over k of a[m,k] b[k,n]) scale_a[m] scale_b[n], the sum of int8
// products being exact in int32. Kernels apply the scales in either order, or their product.
#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct W8A8Matmul {
  static Geometry geometry(const Call& call) { return last_axis_rows(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const auto b = a.matrix(1, 0);
    const auto sum = a.integer_times(a.input(0, row, call.input(0).last_extent()), b);
    a.output(row, a.scale(sum, a.input_scalar(2, row), a.input(3, 0, b.columns)));
  }
};

}  // namespace

constexpr Reference w8a8_matmul_reference = make_reference<W8A8Matmul>("w8a8_matmul");

}  // namespace warpfuzz
