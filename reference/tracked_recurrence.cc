// The gated delta rule as one primitive (NUMERICS.md, "Gated delta rule"): the error of a state is
// carried by its norm, since the matrix that carries the state on has the norm
// |alpha| max(1, |1 - beta |k|^2|).
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/second_look.h"
#include "reference/tracked.h"
#include "reference/tracked_loops.h"

namespace warpfuzz {
namespace {

double norm(const double* x, size_t n) {
  double squares = 0;
  for (size_t i = 0; i < n; ++i) squares += x[i] * x[i];
  return std::sqrt(squares);
}

// Norms of the errors of one column of the state, a vector of dk.
struct ColumnError {
  double reach = 0;     // of the state if nothing cancelled: sum of decayed |k| |x|
  double peak = 0;      // the largest reach so far
  double solved = 0;    // sum of |x|, grown where alpha > 1 but never decayed
  double written = 0;   // the same of |k| |x|
  double variance = 0;  // independent roundings
  double coherent = 0;  // the same, taken for one sign
  double lin = 0;       // certain
  double e = 0;         // of the oracle itself
  double underflow = 0;
  bool overflow = false;
};

}  // namespace

Row Tracked::gated_delta(const Matrix& q, const Matrix& k, const Matrix& v, const double* alpha,
                         const double* beta) {
  const size_t steps = q.rows, depth = q.columns, columns = v.columns;
  const double u = p_.roundoff, d = static_cast<double>(depth), root_d = std::sqrt(d);
  const double lost = p_.underflow;
  const bool special = q.operand->has_special || k.operand->has_special || v.operand->has_special;
  Row out = fresh({steps * columns, std::numeric_limits<double>::infinity(), 0, 0, special}, true);
  ensure_b(out);
  double* state = zeros(columns * depth);
  double* products = arena_.doubles(depth);
  std::vector<ColumnError> errors(columns);
  double largest_key = 0;
  // Largest products over any steps in a row: of alphas, of norms. Chunks multiply them first.
  double longest_decay = 1, longest_growth = 1;

  // A dot product of the state: value, spread of its rounding.
  const auto dot = [&](const double* x, const double* s, double* variance) {
    for (size_t i = 0; i < depth; ++i) products[i] = x[i] * s[i];
    const Totals t = totals(products, depth);
    const double drift = tensor_core_drift(t.sum, t.squares, d) / lambda_;
    *variance = order_variance(t.sum, t.squares, d) + drift * drift;
    if (depth == 1) *variance = u * u * t.squares;
    if (careful_) {
      *variance = std::max(*variance, summation_variance(products, depth, t.sum, {u, lambda_}));
    }
    return t.sum;
  };

  for (size_t t = 0; t < steps; ++t) {
    const double* key = k.values + t * depth;
    const double* query = q.values + t * depth;
    const double key_norm = norm(key, depth), query_norm = norm(query, depth);
    largest_key = std::max(largest_key, key_norm);
    const double a = std::fabs(alpha[t]), b = std::fabs(beta[t]);
    const double growth = a * std::max(1.0, std::fabs(1 - beta[t] * key_norm * key_norm));
    longest_decay = std::max(longest_decay, 1.0) * a;
    longest_growth = std::max(longest_growth, 1.0) * growth;
    const double response = b * key_norm * largest_key * longest_growth;  // of a chunk's inverse
    for (size_t j = 0; j < columns; ++j) {
      double* s = state + j * depth;
      ColumnError& error = errors[j];
      const double value = v.values[t * columns + j];
      const double before = norm(s, depth);
      double read_variance = 0, output_variance = 0;
      const double read = alpha[t] * dot(key, s, &read_variance);
      const double x = beta[t] * (value - read);
      for (size_t i = 0; i < depth; ++i) s[i] = alpha[t] * s[i] + key[i] * x;
      const double after = norm(s, depth);
      const double o = dot(query, s, &output_variance);

      const double past = a * error.reach;
      error.reach = past + key_norm * std::fabs(x);
      error.peak = std::max(error.peak, error.reach);
      error.solved = std::max(a, 1.0) * error.solved + std::fabs(x);
      error.written = std::max(a, 1.0) * error.written + key_norm * std::fabs(x);
      const double write = b * key_norm;
      const double rounding =
          u * (a * before + after + write * 3 * (std::fabs(read) + std::fabs(value)));
      const double reading = write * a * std::sqrt(read_variance);
      error.variance =
          growth * growth * error.variance + (rounding + reading) * (rounding + reading);
      error.coherent = growth * error.coherent + rounding + lambda_ * reading;
      const double n = d + static_cast<double>(t) + 8;
      error.lin = growth * error.lin + u * (n * write * key_norm * past + 4 * past +
                                            4 * error.reach + 6 * write * std::fabs(value));
      error.e = growth * error.e +
                u64 * (3 * a * before + 2 * after +
                       write * ((d + 3) * key_norm * a * before + 4 * std::fabs(value)));
      // A product of alphas that underflows takes with it whatever was written before it, one of
      // keys that does what x adds by it.
      const double forgotten = (error.written + error.peak) * (1 + root_d);
      error.underflow =
          growth * error.underflow +
          lost * (3 * root_d + write * (a * d + 3) + key_norm * (1 + std::fabs(value - read)) +
                  (1 + write * key_norm) * forgotten + write * d * error.solved);
      // Intermediates of a recurrence, and of chunks: keys times keys, undecayed states, inverses.
      const double highest = std::max(
          {error.peak, key_norm * error.peak, b * (std::fabs(value) + key_norm * error.peak),
           std::fabs(value), key_norm * largest_key * std::max(1.0, longest_decay), response,
           std::max(1.0, longest_decay) * std::max({1.0, error.solved, error.peak})});
      if (!(highest * (1 + n * u) < 0.5 * p_.overflow)) error.overflow = true;

      const size_t at = t * columns + j;
      out.r[at] = o;
      out.e[at] = error.e * query_norm + (d + 2) * u64 * query_norm * after;
      const double flushed =
          error.underflow * query_norm +
          lost * (d + root_d * error.reach + query_norm * forgotten + d * error.solved);
      out.lin[at] = error.lin * query_norm + n * u * query_norm * error.reach + flushed;
      const double spread = careful_ ? 0 : error.variance * query_norm * query_norm;
      out.var[at] = output_variance + spread;
      out.b[at] = (careful_ ? error.coherent * query_norm : 0) + flushed;
      // A chunk weighs query times key by the alphas between them before what was written there.
      const double seen =
          query_norm * std::max(error.peak, largest_key * std::max(1.0, longest_decay));
      if (error.overflow || !(seen * (1 + n * u) < 0.5 * p_.overflow)) {
        ensure_doubt(out)[at] = doubt_undetermined;
      }
    }
  }
  return out;
}

}  // namespace warpfuzz
