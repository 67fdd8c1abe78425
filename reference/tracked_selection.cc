// Choices between values of the tracked number: a choice rounds nothing, so the tolerance is that
// of what is chosen.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/tracked.h"
#include "reference/tracked_loops.h"
#include "schemas/check.h"

namespace warpfuzz {
namespace {

// The first of the greatest elements; the first NaN if there is one.
size_t first_of_greatest(const Row& a) {
  size_t position = 0;
  for (size_t i = 0; i < a.n; ++i) {
    if (std::isnan(a.r[i])) return i;
    if (a.r[i] > a.r[position]) position = i;
  }
  return position;
}

}  // namespace

Row Tracked::where_positive(const Row& x, const Row& a, const Row& b) {
  Facts facts{a.n, std::max(a.bound, b.bound), std::min(a.floor, b.floor),
              std::min(a.quantum, b.quantum), x.special || a.special || b.special};
  const bool tolerances = toleranced(a) || toleranced(b);
  Row out = fresh(facts, tolerances);
  for (size_t i = 0; i < a.n; ++i) {
    const Row& chosen = x.r[i] > 0 || std::isnan(x.r[i]) ? a : b;
    out.r[i] = chosen.r[i];
    if (chosen.doubt != nullptr && chosen.doubt[i] != 0) ensure_doubt(out)[i] = chosen.doubt[i];
    if (!tolerances) continue;
    const bool exact = !toleranced(chosen);
    out.lin[i] = exact ? 0 : chosen.lin[i];
    out.var[i] = exact ? 0 : chosen.var[i];
    out.e[i] = exact ? 0 : chosen.e[i];
    if (chosen.b != nullptr) {
      ensure_b(out);
      out.b[i] = chosen.b[i];
    }
    for (size_t k = 0; k < shared_slots; ++k) {
      if (chosen.c[k] == nullptr) continue;
      if (out.c[k] == nullptr) out.c[k] = zeros(a.n);
      out.c[k][i] = chosen.c[k][i];
    }
  }
  return out;
}

Row Tracked::zero_at_minus_infinity(const Row& x, const Row& value) {
  if (!x.special) return value;
  Row out = fresh({value.n, value.bound, 0, 0, true}, true);  // a copy: rows stay as they are made
  const auto copy = [&](const double* from, double* to) {
    for (size_t i = 0; i < value.n; ++i) {
      to[i] = from == nullptr || (std::isinf(x.r[i]) && x.r[i] < 0) ? 0 : from[i];
    }
  };
  copy(value.r, out.r);
  copy(value.lin, out.lin);
  copy(value.var, out.var);
  copy(value.e, out.e);
  if (value.b != nullptr) copy(value.b, out.b = arena_.doubles(value.n));
  for (size_t k = 0; k < shared_slots; ++k) {
    if (value.c[k] != nullptr) copy(value.c[k], out.c[k] = arena_.doubles(value.n));
  }
  out.doubt = value.doubt;
  return out;
}

Row Tracked::magnitude(const Row& a) {
  Row out = a;
  out.r = arena_.doubles(a.n);
  for (size_t i = 0; i < a.n; ++i) out.r[i] = std::fabs(a.r[i]);
  for (double*& c : out.c) {
    if (c == nullptr) continue;
    double* turned = arena_.doubles(a.n);
    for (size_t i = 0; i < a.n; ++i) turned[i] = a.r[i] < 0 ? -c[i] : c[i];
    c = turned;
  }
  return out;
}

// The maximum moves by at most the largest error of an element.
Scalar Tracked::greatest(const Row& a) {
  if (a.n == 0) return exact(-std::numeric_limits<double>::infinity());
  Scalar s;
  s.r = a.r[first_of_greatest(a)];
  s.doubt = inherited(combined_doubt(a));
  if (!toleranced(a)) return s;
  s.lin = s.b = *std::max_element(a.lin, a.lin + a.n);
  s.e = *std::max_element(a.e, a.e + a.n);
  return s;
}

Scalar Tracked::position_of_greatest(const Row& a) {
  WARPFUZZ_CHECK(!toleranced(a), "the position of the greatest of {} inexact elements", a.n);
  return exact(static_cast<double>(first_of_greatest(a)));
}

}  // namespace warpfuzz
