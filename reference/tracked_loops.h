// The loop that elementwise primitives of the tracked number share: value, certain bound, variance
// and oracle error in one pass, for exact and toleranced operands. Private to tracked*.cc.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "reference/tracked.h"

namespace warpfuzz {

// One element of a primitive: value, derivatives, own rounding bound, own error in double.
struct Terms {
  double r;
  double fa;
  double fb;
  double local;
  double e;
};

struct Totals {
  double sum = 0, magnitude = 0, squares = 0;
};
inline Totals totals(const double* values, size_t n) {
#pragma clang fp reassociate(on)
  double sum = 0, magnitude = 0, squares = 0;
  for (size_t i = 0; i < n; ++i) {
    sum += values[i];
    magnitude += std::fabs(values[i]);
    squares += values[i] * values[i];
  }
  return {sum, magnitude, squares};
}

// Of normal numbers.
inline bool is_power_of_two(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value) << 1;  // without the sign
  return (bits & 0x1f'ffff'ffff'ffff) == 0 && bits != 0 && bits >> 53 != 0x7ff;
}

inline bool toleranced(const Row& row) { return row.lin != nullptr; }
inline bool toleranced(const Scalar& s) { return s.lin != 0 || s.e != 0; }

// inf * 0 is NaN; inf * (what may as well be 0, or of the other sign) is NaN or either infinity.
inline bool may_vanish(double value, double error) {
  return error > 0 && std::fabs(value) <= error;
}
inline constexpr uint8_t any_non_finite =
    class_positive_infinity | class_negative_infinity | class_nan;

// What a doubt about an operand is for the result: a NaN stays one, an overflow may become
// anything.
inline uint8_t inherited(unsigned doubt) {
  if (doubt == 0) return 0;
  return static_cast<uint8_t>(doubt == class_nan ? unsigned{class_nan}
                                                 : unsigned{doubt_undetermined});
}
inline uint8_t combined_doubt(const Row& row) {
  uint8_t all = 0;
  for (size_t i = 0; row.doubt != nullptr && i < row.n; ++i) all |= row.doubt[i];
  return all;
}

// Uniform access to the tolerance of an operand, whether it varies over the row or not.
struct RowTolerance {
  const double *lin, *var, *e;
  explicit RowTolerance(const Row& row) : lin(row.lin), var(row.var), e(row.e) {}
  double lin_at(size_t i) const { return lin[i]; }
  double var_at(size_t i) const { return var[i]; }
  double e_at(size_t i) const { return e[i]; }
};
struct ScalarTolerance {
  double lin, var, e;
  explicit ScalarTolerance(const Scalar& s) : lin(s.lin), var(s.var), e(s.e) {}
  double lin_at(size_t) const { return lin; }
  double var_at(size_t) const { return var; }
  double e_at(size_t) const { return e; }
};
inline RowTolerance tolerance_of(const Row& row) { return RowTolerance(row); }
inline ScalarTolerance tolerance_of(const Scalar& s) { return ScalarTolerance(s); }

template <bool use_a, bool use_b, class A, class B, class Element>
void combine_loop(A a, B b, const Row& out, double inflate_lin, double inflate_var,
                  Element element) {
  double *r = out.r, *lin = out.lin, *var = out.var, *e = out.e;
  const size_t n = out.n;
#pragma clang loop vectorize(assume_safety)
  for (size_t i = 0; i < n; ++i) {
    const Terms t = element(i);
    double bound = t.local;
    double variance = t.local * t.local * (1.0 / 3);
    double error = t.e;
    if constexpr (use_a) {
      bound += std::fabs(t.fa) * inflate_lin * a.lin_at(i);
      variance += t.fa * t.fa * inflate_var * a.var_at(i);
      error += std::fabs(t.fa) * a.e_at(i);
    }
    if constexpr (use_b) {
      bound += std::fabs(t.fb) * b.lin_at(i);
      variance += t.fb * t.fb * b.var_at(i);
      error += std::fabs(t.fb) * b.e_at(i);
    }
    r[i] = t.r;
    lin[i] = bound;
    var[i] = variance;
    e[i] = error;
  }
}

template <class A, class B, class Element>
Row Tracked::combine(const A& a, const B& b, const Facts& facts, double inflate_lin,
                     double inflate_var, Element element) {
  const bool use_a = toleranced(a);
  const bool use_b = toleranced(b);
  if (!use_a && !use_b && is_exact(facts.bound, facts.quantum)) {
    Row out = fresh(facts, false);
    double* r = out.r;
#pragma clang loop vectorize(assume_safety)
    for (size_t i = 0; i < facts.n; ++i) r[i] = element(i).r;
    return out;
  }
  Row out = fresh(facts, true);
  const auto ta = tolerance_of(a);
  const auto tb = tolerance_of(b);
  if (use_a && use_b) {
    combine_loop<true, true>(ta, tb, out, inflate_lin, inflate_var, element);
  } else if (use_a) {
    combine_loop<true, false>(ta, tb, out, inflate_lin, inflate_var, element);
  } else if (use_b) {
    combine_loop<false, true>(ta, tb, out, inflate_lin, inflate_var, element);
  } else {
    combine_loop<false, false>(ta, tb, out, inflate_lin, inflate_var, element);
  }
  const auto carries = [](const auto& x) {
    if constexpr (requires { x.n; }) {
      return x.b != nullptr || x.c[0] != nullptr || x.c[1] != nullptr || x.c[2] != nullptr;
    } else {
      return x.b != 0 || x.c[0] != 0 || x.c[1] != 0 || x.c[2] != 0;
    }
  };
  const auto carry_from = [&](const auto& x, double Terms::* derivative) {
    if (!carries(x)) return;
    double* f = arena_.doubles(facts.n);
    for (size_t i = 0; i < facts.n; ++i) f[i] = element(i).*derivative;
    carry(x, f, out);
  };
  carry_from(a, &Terms::fa);
  carry_from(b, &Terms::fb);
  inherit_doubt(a, out);
  inherit_doubt(b, out);
  settle(out);
  return out;
}

}  // namespace warpfuzz
