// gated_delta per head: a state S[dk,dv], 0 at first, and at step t
//   S := alpha_t (S - beta_t k_t (k_t S)) + beta_t k_t v_t,   o_t = q_t S
// (the gated delta rule of linear attention, there written with S transposed). Kernels recur step
// by step, or solve chunks of steps at once.
#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/reference.h"

namespace warpfuzz {
namespace {

// What NaN and infinities of the steps so far make of a column of the state.
enum class Taint : uint8_t { none, infinite, nan, open };

Taint taint_of(const double* x, size_t n) {
  Taint taint = Taint::none;
  for (size_t i = 0; i < n; ++i) {
    if (std::isnan(x[i])) return Taint::nan;
    if (std::isinf(x[i])) taint = Taint::infinite;
  }
  return taint;
}

struct GatedDelta {
  static Geometry geometry(const Call& call) {
    const Operand& v = call.input(2);
    return {v.extent(0), v.extent(1) * v.extent(2)};
  }
  template <class A>
  static void row(A& a, const Call& call, size_t head) {
    const size_t steps = call.input(0).extent(1);
    const double* alpha = call.input(3).values.data() + head * steps;
    const double* beta = call.input(4).values.data() + head * steps;
    a.output(head,
             a.gated_delta(a.matrix(0, head), a.matrix(1, head), a.matrix(2, head), alpha, beta));
  }

  static void allow(const Call& call, OutputExpectation& o) {
    bool special = false;
    for (size_t i = 0; i < call.input_count(); ++i) special |= call.input(i).has_special;
    for (size_t head = 0; special && head < geometry(call).rows; ++head) allow_head(call, head, o);
  }

  // From a NaN on, the state of its column is NaN; from an infinity on, it is not finite. A special
  // alpha may be multiplied by a state of 0 or not at all. Before it, a chunk that masks by
  // multiplying with 0 may be NaN already.
  static void allow_head(const Call& call, size_t head, OutputExpectation& o) {
    const MatrixView q = call.matrix(0, head), k = call.matrix(1, head), v = call.matrix(2, head);
    const size_t columns = v.columns;
    std::vector<Taint> state(columns, Taint::none);
    std::vector<size_t> tainted(columns, 0);  // steps up to the last that is
    for (size_t t = 0; t < q.rows; ++t) {
      const double& alpha = call.input(3).values[head * q.rows + t];
      const double& beta = call.input(4).values[head * q.rows + t];
      const Taint written =
          std::max(taint_of(k.values + t * k.columns, k.columns), taint_of(&beta, 1));
      const Taint read = taint_of(q.values + t * q.columns, q.columns);
      for (size_t j = 0; j < columns; ++j) {
        const double& value = v.values[t * columns + j];
        const size_t at = (head * q.rows + t) * columns + j;
        state[j] = std::max({state[j], written, taint_of(&value, 1),
                             std::isfinite(alpha) ? Taint::none : Taint::open});
        if (state[j] != Taint::none) tainted[j] = t + 1;
        apply(std::max(state[j], read), at, o);
      }
    }
    for (size_t j = 0; j < columns; ++j) {
      for (size_t t = 0; t < tainted[j]; ++t) {
        o.allowed[(head * q.rows + t) * columns + j] |= class_nan;
      }
    }
  }

  static void apply(Taint taint, size_t at, OutputExpectation& o) {
    if (taint == Taint::none) return;
    if (taint == Taint::open) return leave_open(o, at, 1);
    o.tolerance[at] = o.certain[at] = 0;
    o.allowed[at] =
        static_cast<uint8_t>(taint == Taint::nan ? class_nan : class_any & ~class_finite);
  }
};

}  // namespace

constexpr Reference gated_delta_reference = make_reference<GatedDelta>("gated_delta");

}  // namespace warpfuzz
