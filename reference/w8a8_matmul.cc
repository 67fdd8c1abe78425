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
  // Operands stand for numbers within half a scale of them, each independently.
  static Approximation approximation(const Call& call, std::span<const std::vector<double>> y,
                                     std::span<const OutputExpectation> expected) {
    Approximation approximation{y[0], expected[0].value, std::vector<double>(y[0].size())};
    const MatrixView a = call.matrix(0), b = call.matrix(1);
    const auto k = static_cast<double>(a.columns);
    std::vector<double> of_column(b.columns);
    for (size_t i = 0; i < b.rows * b.columns; ++i) {
      of_column[i % b.columns] += b.values[i] * b.values[i];
    }
    for (size_t i = 0; i < a.rows; ++i) {
      double of_row = 0;
      for (size_t l = 0; l < a.columns; ++l) {
        of_row += a.values[i * a.columns + l] * a.values[i * a.columns + l];
      }
      for (size_t j = 0; j < b.columns; ++j) {
        const double scale = call.input(2).values[i] * call.input(3).values[j];
        approximation.variance[i * b.columns + j] =
            scale * scale * ((of_row + of_column[j]) / 12 + k / 144);
      }
    }
    return approximation;
  }
};

}  // namespace

constexpr Reference w8a8_matmul_reference = make_reference<W8A8Matmul>("w8a8_matmul");

}  // namespace warpfuzz
