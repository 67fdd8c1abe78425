// softmax over the last axis: exp(x - max) / sum exp(x - max).
#include <cmath>

#include "reference/reference.h"

namespace warpfuzz {
namespace {

struct Softmax {
  static Geometry geometry(const Call& call) { return last_axis_rows(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const auto x = a.input(0, row, call.input(0).last_extent());
    const auto w = a.exp_shift(x, a.maximum(x));
    a.output(row, a.divide(w, a.shared(a.sum(w))));
  }
  // A row of -infinity alone: NaN by the formula, 0 by the convention of masked kernels.
  static void allow(const Call& call, OutputExpectation& y) {
    if (!call.input(0).has_special) return;
    const std::vector<double>& x = call.input(0).values;
    const size_t n = call.input(0).last_extent();
    for (size_t begin = 0; begin < x.size(); begin += n) {
      bool masked = true;
      for (size_t j = begin; j < begin + n; ++j) masked = masked && std::isinf(x[j]) && x[j] < 0;
      if (!masked) continue;
      for (size_t j = begin; j < begin + n; ++j) allow_exact(y, j, 0);
    }
  }
};

}  // namespace

constexpr Reference softmax_reference = make_reference<Softmax>("softmax");

}  // namespace warpfuzz
