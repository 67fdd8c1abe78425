// Products of tracked rows with exact matrices (NUMERICS.md, "Summation", "Weighted mean").
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "reference/number_format.h"
#include "reference/second_look.h"
#include "reference/tracked.h"
#include "reference/tracked_loops.h"
#include "schemas/check.h"

namespace warpfuzz {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// r += x m, magnitudes += |x m|, squares += (x m)^2 over four matrix rows at a time.
void accumulate(const double* x, const double* m, size_t stride, size_t k, size_t n, double* r,
                double* magnitude, double* squares) {
  size_t i = 0;
  for (; i + 4 <= k; i += 4) {
    const double *m0 = m + i * stride, *m1 = m0 + stride, *m2 = m1 + stride, *m3 = m2 + stride;
    const double x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
#pragma clang loop vectorize(assume_safety)
    for (size_t j = 0; j < n; ++j) {
      const double p0 = x0 * m0[j], p1 = x1 * m1[j], p2 = x2 * m2[j], p3 = x3 * m3[j];
      r[j] += (p0 + p1) + (p2 + p3);
      magnitude[j] += (std::fabs(p0) + std::fabs(p1)) + (std::fabs(p2) + std::fabs(p3));
      squares[j] += (p0 * p0 + p1 * p1) + (p2 * p2 + p3 * p3);
    }
  }
  for (; i < k; ++i) {
    const double* row = m + i * stride;
#pragma clang loop vectorize(assume_safety)
    for (size_t j = 0; j < n; ++j) {
      const double p = x[i] * row[j];
      r[j] += p;
      magnitude[j] += std::fabs(p);
      squares[j] += p * p;
    }
  }
}

}  // namespace

double Tracked::tensor_core_drift(double r, double q, double k) const {
  if (!half_inputs_) return 0;
  return 1.5 * 2 * p_.roundoff * tensor_core_steps(k) * std::sqrt(r * r / 3 + q / 6);
}

void Tracked::add_alignment_loss(const Row& a, const double* m, size_t stride,
                                 const Operand& operand, Row& out) {
  const double normal = traits(operand.dtype).smallest_normal;
  if (operand.dtype != DType::float16 || std::min(a.floor, operand.smallest) >= normal) return;
  ensure_b(out);
  for (size_t j = 0; j < out.n; ++j) {
    Alignment alignment;
    for (size_t i = 0; i < a.n; ++i) {
      const double x = a.r[i], y = m[i * stride + j];
      if (std::isfinite(x * y)) alignment.add(x, y, x * y, normal);
    }
    ErrorTerms loss;
    alignment.lose(loss);
    out.lin[j] += loss.lin;
    out.b[j] += loss.b;
  }
}

void Tracked::mark_partial_overflow(const Row& a, const double* m, size_t stride, Row& out) {
  for (size_t j = 0; j < out.n; ++j) {
    double positive = 0, negative = 0;
    for (size_t i = 0; i < a.n; ++i) {
      const double p = a.r[i] * m[i * stride + j];
      if (!std::isfinite(p)) continue;
      (p > 0 ? positive : negative) += std::fabs(p);
    }
    const uint8_t beyond = partial_overflow(p_, static_cast<double>(a.n), positive, negative);
    if (beyond != 0) ensure_doubt(out)[j] |= beyond;
  }
}

Row Tracked::product(const Row& a, const double* m, size_t stride, size_t n, const Operand& operand,
                     int roundings_before) {
  const double u = p_.roundoff;
  const double k = static_cast<double>(a.n);
  double* r = zeros(n);
  double* magnitude = zeros(n);
  double* squares = zeros(n);
  accumulate(a.r, m, stride, a.n, n, r, magnitude, squares);
  double bound = 0;
  for (size_t j = 0; j < n; ++j) bound = std::max(bound, magnitude[j]);
  Facts facts{n, bound, 0, 0, a.special || operand.has_special};
  if (!toleranced(a) && a.quantum > 0 && operand.quantum > 0) {
    facts.quantum = a.quantum * operand.quantum;
  }
  const bool exact_zero = bound == 0 && !facts.special;
  if (!toleranced(a) && (exact_zero || (is_exact(bound, facts.quantum) && !facts.special))) {
    if (exact_zero) facts.quantum = infinity;
    Row out = fresh(facts, false);
    out.r = r;
    return out;
  }
  const double quantum = facts.quantum;
  facts.quantum = 0;
  Row out = fresh(facts, true);
  out.r = r;
  const ProductTolerance tolerance(p_, k, half_inputs_, lambda_, roundings_before,
                                   {a.floor, a.bound}, {operand.smallest, operand.largest});
#pragma clang loop vectorize(assume_safety)
  for (size_t j = 0; j < n; ++j) {
    const ErrorTerms t = tolerance.terms(r[j], magnitude[j], squares[j]);
    out.lin[j] = t.lin;
    out.var[j] = t.var;
    out.e[j] = t.e;
  }
  if (half_inputs_) add_alignment_loss(a, m, stride, operand, out);
  if (toleranced(a)) {  // subnormal inputs that may read as 0, or a computed row
    double* derivative = arena_.doubles(n);
    for (size_t i = 0; i < a.n; ++i) {
      const double b = a.b != nullptr ? a.b[i] : 0;
      if (a.lin[i] == 0 && a.e[i] == 0) continue;
      ensure_b(out);
      for (size_t j = 0; j < n; ++j) {
        derivative[j] = m[i * stride + j];
        out.lin[j] += std::fabs(derivative[j]) * a.lin[i];
        out.var[j] += derivative[j] * derivative[j] * a.var[i];
        out.e[j] += std::fabs(derivative[j]) * a.e[i];
        out.b[j] += std::fabs(derivative[j]) * b;
      }
    }
    for (const double* c : a.c) WARPFUZZ_CHECK(c == nullptr, "shared errors cross to another row");
  }
  if (careful_) {
    double* addends = arena_.doubles(a.n);
    for (size_t j = 0; j < n; ++j) {
      for (size_t i = 0; i < a.n; ++i) addends[i] = a.r[i] * m[i * stride + j];
      out.var[j] = std::max(out.var[j], summation_variance(addends, a.n, r[j], {u, lambda_}));
    }
  }
  if (tolerance.lost > 0) {
    ensure_b(out);
    for (size_t j = 0; j < n; ++j) {
      if (magnitude[j] == 0) continue;
      out.lin[j] += tolerance.lost;
      out.b[j] += tolerance.lost;
    }
  }
  // Per column: lattice columns are exact even where others are not.
  if (quantum > 0) {
    for (size_t j = 0; j < n; ++j) {
      if (!is_exact(magnitude[j], quantum)) continue;
      out.lin[j] = out.var[j] = out.e[j] = 0;
      if (out.b != nullptr) out.b[j] = 0;
    }
  }
  if (bound * (1 + k * u) >= p_.overflow) mark_partial_overflow(a, m, stride, out);
  return out;
}

Row Tracked::times(const Row& a, const Matrix& m) {
  WARPFUZZ_CHECK(a.n == m.rows, "{} times {} rows", a.n, m.rows);
  return product(a, m.values, m.columns, m.columns, *m.operand, 0);
}

Row Tracked::integer_times(const Row& a, const Matrix& m) {
  WARPFUZZ_CHECK(a.n == m.rows && !toleranced(a), "{} times {} rows", a.n, m.rows);
  double* sum = zeros(m.columns);
  for (size_t i = 0; i < a.n; ++i) {
    for (size_t j = 0; j < m.columns; ++j) sum[j] += a.r[i] * m.values[i * m.columns + j];
  }
  double bound = 0;
  for (size_t j = 0; j < m.columns; ++j) bound = std::max(bound, std::fabs(sum[j]));
  const bool converts = bound <= p_.integers;
  Row out = fresh({m.columns, bound, 1, 1, false}, !converts);
  out.r = sum;
  for (size_t j = 0; !converts && j < m.columns; ++j) {
    const double size = std::fabs(sum[j]);
    out.lin[j] = size > p_.integers ? p_.roundoff * size : 0;
    out.var[j] = out.lin[j] * out.lin[j] / 3;
    out.e[j] = 0;
  }
  return out;
}

Row Tracked::scores(const Row& a, const Matrix& m, size_t count, const Scalar& scale) {
  WARPFUZZ_CHECK(a.n == m.columns && count <= m.rows, "{} times {} columns", a.n, m.columns);
  if (transposed_of_ != m.values || transposed_.size() != m.rows * m.columns) {
    transposed_.resize(m.rows * m.columns);
    for (size_t j = 0; j < m.rows; ++j) {
      for (size_t i = 0; i < m.columns; ++i) {
        transposed_[i * m.rows + j] = m.values[j * m.columns + i];
      }
    }
    transposed_of_ = m.values;
  }
  // The scale may be folded into the query, which rounds it.
  Row query = a;
  if (toleranced(scale)) query.quantum = 0;
  Row products = product(query, transposed_.data(), m.rows, count, *m.operand, 1);
  if (p_.flush && a.floor * scale.r < 2 * p_.normal && toleranced(products)) {
    const double lost =
        static_cast<double>(a.n) * p_.underflow * m.operand->largest / std::fabs(scale.r);
    ensure_b(products);
    for (size_t j = 0; j < count; ++j) {
      products.lin[j] += lost;
      products.b[j] += lost;
    }
  }
  return multiply(products, scale);
}

// An infinity of V times a weight that a kernel may flush to 0 is NaN or that infinity; a key of
// score -inf may be multiplied by 0 or left out.
void Tracked::weigh_specials(const Row& p, const Matrix& m, double threshold, Row& out) {
  constexpr uint8_t non_finite = class_nan | class_positive_infinity | class_negative_infinity;
  for (size_t j = 0; j < p.n; ++j) {
    if (!(p.r[j] < threshold)) continue;
    const bool weightless = p.r[j] == 0;
    for (size_t t = 0; t < m.columns; ++t) {
      const double v = m.values[j * m.columns + t];
      if (std::isfinite(v) || (std::isnan(v) && !weightless)) continue;
      ensure_doubt(out)[t] |= weightless ? doubt_undetermined : non_finite;
    }
  }
}

// The second look at a weighted mean: order of both sums, online rescaling, and a storage rounding
// that all weights of one sign of V share.
void Tracked::doubt_weights(const Row& w, const Row& p, const Matrix& m, double storage_roundoff,
                            Row& out) {
  const size_t n = w.n, columns = m.columns;
  const SummationOrder order{p_.roundoff, lambda_};
  double* shift = arena_.doubles(n);
  double* addends = arena_.doubles(n);
  for (size_t j = 0; j < n; ++j) shift[j] = w.r[j] > 0 ? std::log(w.r[j]) : -1100;
  const double weight_variance = summation_variance(p.r, n, 1, order);
  const OnlineTrial online(shift, n);
  for (size_t t = 0; t < columns; ++t) {
    double magnitude = 0;
    for (size_t j = 0; j < n; ++j) {
      addends[j] = p.r[j] * m.values[j * columns + t];
      magnitude += std::fabs(addends[j]);
    }
    const double o = out.r[t];
    out.var[t] += summation_variance(addends, n, o, order) + o * o * weight_variance;
    const double rescaling = rescaling_error(shift, p.r, m.values + t, columns, n, o, p_.roundoff);
    out.lin[t] += rescaling;
    out.b[t] += rescaling + storage_roundoff * 0.5 * (magnitude + std::fabs(o));
  }
}

Row Tracked::weighted_mean(const Row& w, const Matrix& m, DType storage) {
  const size_t n = w.n, columns = m.columns;
  const double u = p_.roundoff, count = static_cast<double>(n);
  const Totals weights = totals(w.r, n);
  const double inverse = 1 / weights.sum;
  Row p;
  p.n = n;
  p.r = arena_.doubles(n);
  for (size_t j = 0; j < n; ++j) p.r[j] = w.r[j] * inverse;

  Facts facts{columns, 0, 0, 0, w.special || m.operand->has_special};
  double* o = zeros(columns);
  double* magnitude = zeros(columns);
  double* squares = zeros(columns);
  accumulate(p.r, m.values, columns, n, columns, o, magnitude, squares);
  for (size_t t = 0; t < columns; ++t) facts.bound = std::max(facts.bound, magnitude[t]);

  const bool cast = storage != DType::float32;
  const double storage_u = cast ? unit_roundoff(storage) : 0;
  const double storage_step = cast ? 0.5 * traits(storage).smallest_subnormal : 0;
  if (!toleranced(w) && m.operand->quantum > 0 && is_power_of_two(weights.sum) &&
      is_exact(weights.sum, w.quantum) && !facts.special) {
    const double step = w.quantum * m.operand->quantum;
    if (is_exact(facts.bound * weights.sum, step) && inverse >= 2 * storage_step) {
      facts.quantum = step * inverse;
      Row out = fresh(facts, false);
      out.r = o;
      return out;
    }
  }

  Row out = fresh(facts, true);
  out.r = o;
  const double in_any_order = addition_bound(count, half_inputs_) * u;
  const double weight_order =
      order_variance(weights.sum, weights.squares, count) * inverse * inverse;
  for (size_t t = 0; t < columns; ++t) {
    const double size = std::fabs(o[t]);
    const double drift = tensor_core_drift(o[t], squares[t], count) / lambda_;
    const double local = 3 * u * size;
    // The weights may be divided one by one, before the product.
    out.lin[t] = (in_any_order + 3 * u) * magnitude[t] + count * u * size;
    out.var[t] = order_variance(o[t], squares[t], count) + drift * drift +
                 size * size * weight_order + local * local / 3;
    out.e[t] = (count + 4) * u64 * (magnitude[t] + size);
  }
  if (w.b != nullptr || careful_) ensure_b(out);
  for (size_t j = 0; j < n && toleranced(w); ++j) {
    const double lin = w.lin[j] * inverse, var = w.var[j] * inverse * inverse;
    const double e = w.e[j] * inverse;
    const double* v = m.values + j * columns;
#pragma clang loop vectorize(assume_safety)
    for (size_t t = 0; t < columns; ++t) {
      const double distance = std::fabs(v[t] - o[t]);
      out.lin[t] += lin * distance;
      out.var[t] += var * distance * distance;
      out.e[t] += e * distance;
    }
    if (w.b == nullptr || w.b[j] == 0) continue;
    const double b = w.b[j] * inverse;
    for (size_t t = 0; t < columns; ++t) out.b[t] += b * std::fabs(v[t] - o[t]);
  }
  for (size_t j = 0; j < n && cast; ++j) {
    const double own = storage_u * p.r[j] + storage_step;
    const double* v = m.values + j * columns;
    for (size_t t = 0; t < columns; ++t) {
      const double bound = own * std::fabs(v[t]);
      out.lin[t] += bound;
      out.var[t] += bound * bound / 3;
    }
  }
  if (careful_ && n > 0) doubt_weights(w, p, m, storage_u, out);
  const double smallest_weight = w.floor * inverse;
  if (smallest_weight * m.operand->smallest * u < 4 * p_.normal || w.floor < 4 * p_.normal) {
    ensure_b(out);
    for (size_t t = 0; t < columns; ++t) {
      if (magnitude[t] == 0) continue;
      out.lin[t] += 2 * count * p_.underflow;
      out.b[t] += 2 * count * p_.underflow;
    }
  }
  if (p_.flush && m.operand->smallest < p_.normal) {
    ensure_b(out);
    for (size_t t = 0; t < columns; ++t) {
      out.lin[t] += p_.normal;
      out.b[t] += p_.normal;
    }
  }
  if (m.operand->has_special) {
    weigh_specials(p, m, std::max(0x1p-20 * (cast ? 1 : 0), 2 * p_.normal), out);
  }
  // Before the maximum is met, weights relative to the running maximum may all be 1.
  if (count * m.operand->largest * (1 + count * u) >= p_.overflow) {
    for (size_t t = 0; t < columns; ++t) {
      double reach = 0;
      for (size_t j = 0; j < n; ++j) {
        const double v = std::fabs(m.values[j * columns + t]);
        reach += std::isfinite(v) ? v : 0;
      }
      if (reach * (1 + count * u) >= p_.overflow) {
        ensure_doubt(out)[t] |= class_positive_infinity | class_negative_infinity | class_nan;
      }
    }
  }
  doubt_all(out, inherited(combined_doubt(w)));
  return out;
}

}  // namespace warpfuzz
