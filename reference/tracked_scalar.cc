// Scalars of the tracked number that are computed from scalars, and scalars as outputs
// (NUMERICS.md, "Primitives").
#include <algorithm>
#include <cmath>

#include "reference/tracked.h"
#include "reference/tracked_loops.h"

namespace warpfuzz {
namespace {

constexpr double library = 1.25;

// NaN and infinities have no tolerance: the class is all there is.
Scalar without_tolerance_unless_finite(Scalar s) {
  if (!std::isfinite(s.r)) {
    s.lin = s.var = s.e = s.b = 0;
    std::fill(std::begin(s.c), std::end(s.c), 0.0);
  }
  return s;
}

}  // namespace

Scalar Tracked::input_scalar(size_t position, size_t index) const {
  Scalar s = exact(call_.input(position).values[index]);
  const double magnitude = std::fabs(s.r);
  if (p_.flush && magnitude < p_.normal) s.lin = s.b = magnitude;  // may read as 0
  return s;
}

Scalar Tracked::multiply(const Scalar& a, const Scalar& b) {
  Scalar s;
  s.r = a.r * b.r;
  const double local = p_.roundoff * std::fabs(s.r);
  const double size_a = std::fabs(a.r), size_b = std::fabs(b.r);
  s.lin = size_b * a.lin + size_a * b.lin + a.lin * b.lin + local;
  s.var = b.r * b.r * a.var + a.r * a.r * b.var + local * local / 3;
  s.e = size_b * a.e + size_a * b.e + u64 * std::fabs(s.r);
  s.b = size_b * a.b + size_a * b.b + tau(a) * tau(b);
  for (size_t k = 0; k < shared_slots; ++k) s.c[k] = b.r * a.c[k] + a.r * b.c[k];
  s.doubt = inherited(a.doubt | b.doubt);
  if ((std::isinf(a.r) && may_vanish(b.r, b.lin)) || (std::isinf(b.r) && may_vanish(a.r, a.lin))) {
    s.doubt |= any_non_finite;
  }
  return settle(without_tolerance_unless_finite(s));
}

Scalar Tracked::divide(const Scalar& a, const Scalar& b) {
  Scalar s;
  s.r = a.r / b.r;
  const double size = std::fabs(s.r), inverse = 1 / std::fabs(b.r);
  const double lin_relative = b.lin * inverse, relative = tau(b) * inverse;
  if (relative > 0.5) {  // as for rsqrt
    s.doubt = doubt_undetermined;
    return s;
  }
  const double local = 2 * p_.roundoff * size;
  s.lin = (a.lin * inverse + size * lin_relative) * (1 + 2 * std::min(lin_relative, 0.5)) + local;
  s.var = (a.var + s.r * s.r * b.var) * inverse * inverse + local * local / 3;
  s.e = (a.e + size * b.e) * inverse + u64 * size;
  s.b =
      (a.b + size * b.b + 2 * tau(b) * inverse * tau(a)) * inverse + 2 * size * relative * relative;
  for (size_t k = 0; k < shared_slots; ++k) s.c[k] = (a.c[k] - s.r * b.c[k]) / b.r;
  s.doubt = inherited(a.doubt | b.doubt);
  return settle(without_tolerance_unless_finite(s));
}

// Base-2 kernels form (m log2e + log2 E) ln2: three roundings of the result instead of one.
Scalar Tracked::add(const Scalar& a, const Pivot& b) {
  Scalar s = a;
  s.r = a.r + b.r;
  const double local = 3 * p_.roundoff * std::fabs(s.r);
  s.lin += local;
  s.var += local * local / 3;
  s.e += u64 * std::fabs(s.r);
  s.doubt = inherited(a.doubt | b.doubt);
  s.quantum = 0;
  return settle(without_tolerance_unless_finite(s));
}

Scalar Tracked::log(const Scalar& a) {
  Scalar s;
  s.r = std::log(a.r);
  const double t = tau(a);
  if (t > 0.5 * a.r) {  // as for rsqrt
    s.doubt = doubt_undetermined;
    return s;
  }
  // lg2.approx: 2^-22 absolute between 1/2 and 2, relative elsewhere.
  const double near_one = a.r > 0.5 && a.r < 2 ? 4 : 0;
  const double local = library * p_.roundoff * (4 * std::fabs(s.r) + near_one);
  const double slope = 1 / a.r;
  const double lin_relative = std::min(a.lin * slope, 0.5), relative = t * slope;
  s.lin = a.lin * slope * (1 + lin_relative) + local;  // -log(1 - x) <= x + x^2 up to 1/2
  s.var = a.var * slope * slope + local * local / 3;
  s.b = a.b * slope + relative * relative;
  s.e = 1.01 * a.e * slope + 2 * u64 * std::fabs(s.r);
  for (size_t k = 0; k < shared_slots; ++k) s.c[k] = slope * a.c[k];
  s.doubt = inherited(a.doubt);
  return settle(without_tolerance_unless_finite(s));
}

Row Tracked::broadcast(const Scalar& s, size_t n) {
  const double size = std::fabs(s.r);
  Row out = fresh({n, size, size, s.quantum, !std::isfinite(s.r)}, toleranced(s));
  std::fill_n(out.r, n, s.r);
  if (toleranced(s)) {
    std::fill_n(out.lin, n, s.lin);
    std::fill_n(out.var, n, s.var);
    std::fill_n(out.e, n, s.e);
    std::fill_n(out.b = arena_.doubles(n), n, s.b);
    for (size_t k = 0; k < shared_slots; ++k) {
      if (s.c[k] != 0) std::fill_n(out.c[k] = arena_.doubles(n), n, s.c[k]);
    }
  }
  doubt_all(out, inherited(s.doubt));
  return out;
}

void Tracked::output(size_t row, const Scalar& value, size_t k) {
  Scalar certain = value;
  certain.doubt = 0;
  Row one = broadcast(certain, 1);
  doubt_all(one, value.doubt);
  output(row, one, k);
}

}  // namespace warpfuzz
