// Reductions of the tracked number (NUMERICS.md, "Summation", "Shared errors", "Softmax weights").
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/second_look.h"
#include "reference/tracked.h"
#include "reference/tracked_loops.h"
#include "reference/vector_math.h"

namespace warpfuzz {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double library = 1.25;

double total(const double* values, size_t n) {
#pragma clang fp reassociate(on)
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += values[i];
  return sum;
}

double finite_magnitude(const double* values, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += std::isfinite(values[i]) ? std::fabs(values[i]) : 0;
  return sum;
}

// Every partial sum, in every order, lies between minus the negative and the positive addends.
class PartialSums {
 public:
  void add(double value) {
    if (std::isfinite(value)) (value > 0 ? positive_ : negative_) += std::fabs(value);
  }
  // The infinities that they may become, as ElementClass bits.
  uint8_t beyond(double limit) const {
    return static_cast<uint8_t>((positive_ >= limit ? class_positive_infinity : 0) |
                                (negative_ >= limit ? class_negative_infinity : 0));
  }

 private:
  double positive_ = 0, negative_ = 0;
};

// The value that is better than all others, in eight lanes; NaN never is.
template <class Better>
double extreme(const double* values, size_t n, Better better, double start) {
  double lane[8];
  std::fill_n(lane, 8, start);
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (size_t k = 0; k < 8; ++k)
      lane[k] = better(values[i + k], lane[k]) ? values[i + k] : lane[k];
  }
  for (; i < n; ++i) lane[0] = better(values[i], lane[0]) ? values[i] : lane[0];
  for (size_t k = 1; k < 8; ++k) lane[0] = better(lane[k], lane[0]) ? lane[k] : lane[0];
  return lane[0];
}

constexpr double coarsest_roundoff = 0x1p-8;  // bfloat16

struct WeightTerms {
  double u;
  double own;  // of exp itself, times 4 + 2 |shift|
  double fma;  // relative error of the fused shift
  double fma_variance;
};

// w = exp(shift) with its tolerances; `bounds` gets the relative certain bound. A compile-time
// choice, since a masked load of absent tolerances would be slow.
template <bool use_a>
void weight_loop(const Row& a, const double* shift, const double* values, double* bounds,
                 const Row& out, WeightTerms t) {
  const double *lin = a.lin, *var = a.var, *e = a.e;
  double *out_r = out.r, *out_lin = out.lin, *out_var = out.var, *out_e = out.e;
#pragma clang loop vectorize(assume_safety)
  for (size_t i = 0; i < out.n; ++i) {
    const double w = values[i];
    const double size = -shift[i];
    const double own = t.own * (4 + 2 * size);
    double bound = t.u * size + own + t.fma;
    double variance = (t.u * t.u * size * size + own * own) * (1.0 / 3) + t.fma_variance;
    double error = u64 * size + 2 * vector_function_error;
    if constexpr (use_a) {
      bound += lin[i];
      variance += var[i];
      error += e[i];
    }
    const double reach = 1 + 0.6 * bound;  // >= expm1(bound) / bound up to 1/2
    bounds[i] = bound;
    out_r[i] = w;
    out_lin[i] = w * bound * reach;
    out_var[i] = w * w * reach * reach * variance;
    out_e[i] = w * 1.01 * error;
  }
}

}  // namespace

double Tracked::order_variance(double r, double q, double k) const {
  if (k <= 1) return 0;
  const double spread = std::max(q - r * r / k, 0.0) / 6;
  return p_.roundoff * p_.roundoff * (k * (r * r / 3 + spread) + q);
}

Reduced Tracked::sum(const Row& a) {
  const double n = static_cast<double>(a.n);
  const Totals t = totals(a.r, a.n);
  Scalar s;
  s.r = t.sum;
  s.doubt = inherited(combined_doubt(a));
  if (!toleranced(a) && is_exact(t.magnitude, a.quantum)) {
    s.quantum = a.quantum;
    return {s};
  }
  const double u = p_.roundoff;
  if (a.n > 1) {
    s.lin = n * u * t.magnitude;
    s.var = order_variance(t.sum, t.squares, n);
    if (a.floor * u < 4 * p_.normal && p_.flush) {
      s.lin += n * p_.underflow;
      s.b += n * p_.underflow;
    }
    if (careful_) {
      s.var = std::max(s.var, summation_variance(a.r, a.n, t.sum, {u, lambda_}));
    }
    if (careful_ && a.weights) {
      // The shifts are the logarithms of the weights.
      double* shift = arena_.doubles(a.n);
      for (size_t i = 0; i < a.n; ++i) shift[i] = a.r[i] > 0 ? std::log(a.r[i]) : -1100;
      const double one = 1;
      const double rescaling = rescaling_error(shift, a.r, &one, 0, a.n, 0, u);
      s.lin += rescaling;
      s.b += rescaling;
      const double sigma = 2 / lambda_ * OnlineTrial(shift, a.n).sum_error(t.sum);
      s.var = std::max(s.var, sigma * sigma);
    }
  }
  s.e = a.n > 1 ? (n + 2) * u64 * t.magnitude : 0;
  if (toleranced(a)) {
    s.lin += total(a.lin, a.n);
    s.var += total(a.var, a.n);
    s.e += total(a.e, a.n);
    if (a.b != nullptr) s.b += total(a.b, a.n);
    for (size_t k = 0; k < shared_slots; ++k) {
      if (a.c[k] != nullptr) s.c[k] = total(a.c[k], a.n);
    }
  }
  const double finite = a.special ? finite_magnitude(a.r, a.n) : t.magnitude;
  if (finite * (1 + n * u) >= p_.overflow) {
    PartialSums partial;
    for (size_t i = 0; i < a.n; ++i) partial.add(a.r[i]);
    s.doubt |= partial.beyond(p_.overflow / (1 + n * u));
  }
  return {s};
}

// Kernels may scan sequentially, in trees or in blocks whose sums are carried on: each prefix is a
// sum of its own elements in some order.
Row Tracked::scan(const Row& a) {
  const double u = p_.roundoff;
  const double reach = finite_magnitude(a.r, a.n);
  const bool inexact = toleranced(a);
  Facts facts{a.n, reach, a.floor * u, a.quantum, a.special};
  const bool tolerances = inexact || !is_exact(reach, a.quantum);
  Row out = fresh(facts, tolerances);
  const bool may_overflow = reach * (1 + static_cast<double>(a.n) * u) >= p_.overflow;
  const double lost = a.floor * u < 4 * p_.normal && p_.flush ? p_.underflow : 0;
  if (tolerances) ensure_b(out);
  PartialSums partial;
  double sum = 0, magnitude = 0, squares = 0;
  double lin = 0, var = 0, e = 0, b = 0;  // of the addends
  uint8_t doubt = 0;
  for (size_t i = 0; i < a.n; ++i) {
    sum += a.r[i];
    out.r[i] = sum;
    const double n = static_cast<double>(i + 1);
    if (may_overflow) {
      partial.add(a.r[i]);
      doubt |= partial.beyond(p_.overflow / (1 + n * u));
    }
    if (a.doubt != nullptr) doubt |= inherited(a.doubt[i]);
    if (doubt != 0) ensure_doubt(out)[i] = doubt;
    if (!tolerances) continue;
    magnitude += std::fabs(a.r[i]);
    squares += a.r[i] * a.r[i];
    if (inexact) {
      lin += a.lin[i];
      var += a.var[i];
      e += a.e[i];
      if (a.b != nullptr) b += a.b[i];
    }
    const bool exact = i == 0 || (!inexact && is_exact(magnitude, a.quantum));
    out.lin[i] = lin + (exact ? 0 : n * (u * magnitude + lost));
    out.b[i] = b + (exact ? 0 : n * lost);
    out.var[i] = var + (exact ? 0 : order_variance(sum, squares, n));
    out.e[i] = e + (exact ? 0 : (n + 2) * u64 * magnitude);
  }
  for (size_t k = 0; tolerances && k < shared_slots; ++k) {
    if (a.c[k] == nullptr) continue;
    out.c[k] = arena_.doubles(a.n);
    double c = 0;
    for (size_t i = 0; i < a.n; ++i) out.c[k][i] = c += a.c[k][i];
  }
  if (careful_ && tolerances) {
    const std::vector<double> doubted = scan_variances(a.r, a.n, out.r, {u, lambda_});
    for (size_t i = 1; i < a.n; ++i) out.var[i] = std::max(out.var[i], doubted[i]);
  }
  return out;
}

Reduced Tracked::mean(const Row& a) {
  Scalar s = sum(a).value;
  const double n = static_cast<double>(a.n);
  s.r /= n;
  int exponent = 0;
  const bool scaling = std::frexp(n, &exponent) == 0.5;
  if (s.lin == 0 && s.e == 0 && scaling) {
    s.quantum /= n;
    return {s};
  }
  // __fdividef and the product with an approximate reciprocal are within two units in the last
  // place.
  const double local = scaling ? 0 : 4 * p_.roundoff * std::fabs(s.r);
  s.quantum = 0;
  s.lin = s.lin / n + local;
  s.var = s.var / (n * n) + local * local / 3;
  s.e = s.e / n + u64 * std::fabs(s.r);
  s.b /= n;
  for (double& c : s.c) c /= n;
  return {settle(s)};
}

Pivot Tracked::maximum(const Row& a) {
  Pivot pivot;
  pivot.r = extreme(a.r, a.n, [](double v, double best) { return v > best; }, -infinity);
  pivot.doubt = combined_doubt(a);
  return pivot;
}

Row Tracked::exp_shift(const Row& a, const Pivot& maximum) {
  const double* x = a.r;
  const double m = maximum.r, u = p_.roundoff;
  double* shift = arena_.doubles(a.n);
  double* values = arena_.doubles(a.n);
  for (size_t i = 0; i < a.n; ++i) {
    // -inf - -inf stays NaN; anything else below exp's range reads as its end.
    const double d = x[i] - m;
    shift[i] = d < -1100 ? -1100 : d;
  }
  const double lowest = extreme(shift, a.n, [](double v, double best) { return v < best; }, 0);
  vector_exp(shift, values, a.n);
  const double smallest = extreme(values, a.n, [](double v, double best) { return v < best; }, 1);
  Facts facts{a.n, 1, smallest, 1, a.special};
  // Equal exact scores give exp(0) = 1, unless the shift itself is rounded.
  if (!toleranced(a) && lowest == 0 && m == 0) {
    Row out = fresh(facts, false);
    out.r = values;
    out.weights = true;
    return out;
  }
  facts.quantum = 0;
  facts.bound = 2;                        // never exact by being small
  const double fused = u * std::fabs(m);  // of exp2(fma(x, log2e, -m log2e))
  const bool fused_granted = call_.slack().fused_exponent || fused <= coarsest_roundoff;
  const double fma = fused_granted ? fused : 0;
  const double fma_variance = careful_ ? 0 : fma * fma / 3;
  const bool use_a = toleranced(a);
  double* bounds = arena_.doubles(a.n);  // relative certain bound
  Row out = fresh(facts, true);
  const WeightTerms terms{u, library * u, fma, fma_variance};
  if (use_a) {
    weight_loop<true>(a, shift, values, bounds, out, terms);
  } else {
    weight_loop<false>(a, shift, values, bounds, out, terms);
  }
  if (use_a) {
    double* derivative = arena_.doubles(a.n);
    for (size_t i = 0; i < a.n; ++i) derivative[i] = values[i] * (1 + 0.6 * bounds[i]);
    carry(a, derivative, out);
    for (size_t i = 0; i < a.n; ++i) {
      if (!(bounds[i] > 0.5)) continue;
      const double reach = std::expm1(std::min(bounds[i], 700.0)) / bounds[i];
      out.lin[i] = values[i] * bounds[i] * reach;
      out.var[i] = values[i] * values[i] * reach * reach * a.var[i];
    }
  }
  if (careful_ && fma > 0) {  // the rounding of m log2e reaches a whole block with one sign
    ensure_b(out);
    for (size_t i = 0; i < a.n; ++i) out.b[i] += fma * values[i];
  }
  if (a.special) {
    for (size_t i = 0; i < a.n; ++i) {
      if (x[i] != -infinity) continue;
      out.r[i] = std::isnan(values[i]) ? values[i] : 0;
      out.lin[i] = out.var[i] = out.e[i] = 0;
      if (out.b != nullptr) out.b[i] = 0;
      for (double* c : out.c) {
        if (c != nullptr) c[i] = 0;
      }
    }
  }
  out.weights = true;
  doubt_all(out, inherited(maximum.doubt));
  // The fused form: the rounding of m log2e alone may overflow exp2, or m log2e itself.
  if (fma > 80 && std::isfinite(m)) doubt_all(out, doubt_undetermined);
  settle(out);
  return out;
}

Tracked::Moments Tracked::moments(const Row& a) {
  Row inexact = a;
  inexact.quantum = 0;  // Welford's running mean is not exact on a lattice
  Reduced average = mean(inexact);
  WelfordDeviation welford{};
  if (careful_ && a.n > 1) {
    double squares = 0;
    for (size_t i = 0; i < a.n; ++i) {
      squares += (a.r[i] - average.value.r) * (a.r[i] - average.value.r);
    }
    welford = welford_deviation(a.r, a.n, average.value.r, squares / static_cast<double>(a.n));
    const double sigma = 2 / lambda_ * welford.mean;
    if (std::isfinite(sigma)) average.value.var = std::max(average.value.var, sigma * sigma);
  }
  const Scalar mu = shared(average);
  Moments result;
  result.deviation = subtract(a, mu);
  result.variance = mean(square(result.deviation));
  Scalar& v = result.variance.value;
  // Welford squares differences of partial means, which reach the range of the row.
  const double highest =
      extreme(a.r, a.n, [](double x, double best) { return x > best; }, -infinity);
  const double lowest = extreme(a.r, a.n, [](double x, double best) { return x < best; }, infinity);
  const double range = (highest - lowest) * (1 + static_cast<double>(a.n) * p_.roundoff);
  if (std::isfinite(range) && range * range >= p_.overflow) v.doubt |= doubt_undetermined;
  if (careful_) {
    const double sigma = 2 / lambda_ * welford.variance;
    if (std::isfinite(sigma)) v.var = std::max(v.var, sigma * sigma);
  }
  if (call_.slack().one_pass_variance) {
    const Scalar raw = mean(square(a)).value;
    const double mean_error = tau(mu);
    const double local = 3 * p_.roundoff * raw.r;
    v.lin = std::max(v.lin, raw.lin + 2 * std::fabs(mu.r) * mu.lin + local);
    v.b = std::max(v.b, 2 * std::fabs(mu.r) * mean_error + local);
    v.var = std::max(v.var, raw.var);
  }
  return result;
}

}  // namespace warpfuzz
