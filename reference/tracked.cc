#include "reference/tracked.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "reference/number_format.h"
#include "reference/tracked_loops.h"
#include "schemas/check.h"

namespace warpfuzz {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

Precision precision_of(const Contract& contract) {
  const FormatTraits& t = traits(contract.accumulator);
  Precision p;
  p.flush = contract.subnormal == SubnormalPolicy::flush_allowed;
  p.roundoff = std::ldexp(1.0, -t.precision);
  p.normal = t.smallest_normal;
  p.underflow = p.flush ? t.smallest_normal : t.smallest_subnormal;
  p.overflow = t.largest;
  p.integers = std::ldexp(1.0, t.precision);
  return p;
}

Tracked::Tracked(const Call& call, std::span<const OutputTarget> outputs, Arena& arena,
                 double lambda, bool careful)
    : call_(call),
      outputs_(outputs),
      p_(precision_of(call.contract())),
      lambda_(lambda),
      careful_(careful),
      half_inputs_(call.input_count() > 0 && info(call.input(0).dtype).bytes <= 2),
      arena_(arena) {
  arena_.reset();
}

void Tracked::reset() {
  arena_.reset();
  next_slot_ = 0;
}

double* Tracked::zeros(size_t n) {
  double* memory = arena_.doubles(n);
  std::fill_n(memory, n, 0.0);
  return memory;
}

Row Tracked::fresh(const Facts& facts, bool tolerances) {
  Row row;
  row.n = facts.n;
  row.bound = facts.bound;
  row.floor = facts.floor;
  row.quantum = facts.quantum;
  row.special = facts.special;
  row.r = arena_.doubles(facts.n);
  if (!tolerances) return row;
  row.quantum = 0;
  row.lin = arena_.doubles(facts.n);
  row.var = arena_.doubles(facts.n);
  row.e = arena_.doubles(facts.n);
  return row;
}

double Tracked::tau(const Scalar& s) const {
  double variance = s.var;
  for (const double c : s.c) variance += c * c;
  return std::min(s.lin, lambda_ * std::sqrt(variance) + s.b);
}

bool Tracked::is_exact(double bound, double quantum) const {
  if (bound == 0) return true;
  return quantum >= p_.normal && bound <= p_.integers * quantum && bound <= p_.overflow;
}

// --- carrying the optional parts

void Tracked::ensure_b(Row& row) {
  if (row.b == nullptr) row.b = zeros(row.n);
}

void Tracked::carry(const Row& from, const double* derivative, Row& to) {
  const size_t n = to.n;
  if (from.b != nullptr) {
    ensure_b(to);
    for (size_t i = 0; i < n; ++i) to.b[i] += std::fabs(derivative[i]) * from.b[i];
  }
  for (size_t k = 0; k < shared_slots; ++k) {
    if (from.c[k] == nullptr) continue;
    if (to.c[k] == nullptr) to.c[k] = zeros(n);
    for (size_t i = 0; i < n; ++i) to.c[k][i] += derivative[i] * from.c[k][i];
  }
}

void Tracked::carry(const Scalar& from, const double* derivative, Row& to) {
  const size_t n = to.n;
  if (from.b != 0) {
    ensure_b(to);
    for (size_t i = 0; i < n; ++i) to.b[i] += std::fabs(derivative[i]) * from.b;
  }
  for (size_t k = 0; k < shared_slots; ++k) {
    if (from.c[k] == 0) continue;
    if (to.c[k] == nullptr) to.c[k] = zeros(n);
    for (size_t i = 0; i < n; ++i) to.c[k][i] += derivative[i] * from.c[k];
  }
}

// --- doubt

uint8_t* Tracked::ensure_doubt(Row& row) {
  if (row.doubt == nullptr) {
    row.doubt = reinterpret_cast<uint8_t*>(arena_.doubles((row.n + 7) / 8));
    std::memset(row.doubt, 0, row.n);
  }
  return row.doubt;
}

void Tracked::doubt_all(Row& row, uint8_t added) {
  if (added == 0) return;
  uint8_t* doubt = ensure_doubt(row);
  for (size_t i = 0; i < row.n; ++i) doubt[i] |= added;
}

void Tracked::inherit_doubt(const Row& from, Row& to) {
  if (from.doubt == nullptr) return;
  uint8_t* doubt = ensure_doubt(to);
  for (size_t i = 0; i < to.n; ++i) doubt[i] |= inherited(from.doubt[i]);
}

void Tracked::inherit_doubt(const Scalar& from, Row& to) { doubt_all(to, inherited(from.doubt)); }

// --- underflow and overflow (NUMERICS.md, "Underflow", "Overflow")

void Tracked::settle(Row& row) {
  if (row.floor < 4 * p_.normal) mark_underflow(row);
  if (row.bound >= 0.99 * p_.overflow) mark_overflow(row);
}

void Tracked::mark_underflow(Row& row) {
  double* b = row.b;
  for (size_t i = 0; i < row.n; ++i) {
    if (!(std::fabs(row.r[i]) < 2 * p_.normal) || (row.r[i] == 0 && row.lin[i] == 0)) continue;
    if (b == nullptr) {
      ensure_b(row);
      b = row.b;
    }
    row.lin[i] += p_.underflow;
    b[i] += p_.underflow;
  }
}

void Tracked::mark_overflow(Row& row) {
  for (size_t i = 0; i < row.n; ++i) {
    const double reach = std::fabs(row.r[i]) * (1 + 4 * p_.roundoff) + row.lin[i];
    if (!std::isfinite(row.r[i]) || !(reach >= p_.overflow)) continue;
    ensure_doubt(row)[i] |=
        static_cast<uint8_t>(row.r[i] > 0 ? class_positive_infinity : class_negative_infinity);
  }
}

Scalar Tracked::settle(Scalar s) const {
  const double magnitude = std::fabs(s.r);
  if (magnitude < 2 * p_.normal && (s.r != 0 || s.lin != 0)) {
    s.lin += p_.underflow;
    s.b += p_.underflow;
  }
  if (std::isfinite(s.r) && magnitude * (1 + 4 * p_.roundoff) + s.lin >= p_.overflow) {
    s.doubt |= doubt_undetermined;
  }
  return s;
}

// --- operands

Row Tracked::input(size_t position, size_t row, size_t length) {
  const Operand& operand = call_.input(position);
  const size_t begin = row * length;
  Facts facts;
  facts.n = std::min(length, operand.values.size() - begin);
  facts.bound = operand.largest;
  facts.floor = operand.smallest;
  facts.special = operand.has_special;
  const double* values = operand.values.data() + begin;
  if (operand.on_lattice) facts.quantum = quantum_of({values, facts.n});
  if (p_.flush && operand.smallest < p_.normal) {  // subnormal inputs may read as 0
    Row out = fresh(facts, true);
    out.b = arena_.doubles(facts.n);
    for (size_t i = 0; i < facts.n; ++i) {
      const double magnitude = std::fabs(values[i]);
      out.r[i] = values[i];
      out.lin[i] = out.b[i] = magnitude < p_.normal ? magnitude : 0;
      out.var[i] = out.e[i] = 0;
    }
    return out;
  }
  Row out;
  out.n = facts.n;
  out.r = const_cast<double*>(values);  // rows are never written after they are made
  out.quantum = facts.quantum;
  out.bound = facts.bound;
  out.floor = facts.floor;
  out.special = facts.special;
  return out;
}

Scalar Tracked::exact(double value) const {
  Scalar s;
  s.r = value;
  s.quantum = quantum_of({&value, 1});
  return s;
}

Scalar Tracked::constant(Constant constant) const {
  Scalar s;
  s.r = info(constant).value;
  s.lin = s.b = p_.roundoff * s.r;
  s.e = u64 * s.r;
  return s;
}

Scalar Tracked::inverse_root(size_t value) const {
  const double root = std::sqrt(static_cast<double>(value));
  Scalar s;
  s.r = 1 / root;
  int exponent = 0;
  if (std::frexp(root, &exponent) == 0.5) return exact(s.r);
  s.lin = s.b = p_.roundoff * s.r;
  s.e = 2 * u64 * s.r;
  return s;
}

Scalar Tracked::attribute(double value) const {
  Scalar s = exact(value);
  const DType accumulator = call_.contract().accumulator;
  s.lin = s.b = std::fabs(value - decode_element(accumulator, encode_element(accumulator, value)));
  return s;
}

// --- scalars

Scalar Tracked::add(const Scalar& a, const Scalar& b) {
  Scalar s;
  s.r = a.r + b.r;
  const double local = p_.roundoff * std::fabs(s.r);
  s.lin = a.lin + b.lin + local;
  s.var = a.var + b.var + local * local / 3;
  s.e = a.e + b.e + u64 * std::fabs(s.r);
  s.b = a.b + b.b;
  for (size_t k = 0; k < shared_slots; ++k) s.c[k] = a.c[k] + b.c[k];
  s.doubt = inherited(a.doubt | b.doubt);
  return settle(s);
}

Scalar Tracked::rsqrt(const Scalar& a) {
  Scalar s;
  s.r = 1 / std::sqrt(a.r);
  const double t = tau(a);
  // First order says nothing about an argument that may as well be 0.
  if (t > 0.5 * a.r) {
    s.doubt = doubt_undetermined;
    return s;
  }
  const double slope = -0.5 * s.r / a.r;
  const double curvature = 0.75 * s.r / (a.r * a.r);  // |f''|
  const double local = 1.25 * 4 * p_.roundoff * s.r;
  const double lin_reach = std::min(a.lin, 0.5 * a.r);
  s.lin = std::fabs(slope) * a.lin + 0.5 * curvature * lin_reach * a.lin * 2 + local;
  s.var = slope * slope * a.var + local * local / 3;
  s.b = std::fabs(slope) * a.b + (t > 0 ? curvature * t * t : 0);
  s.e = std::fabs(slope) * a.e + 4 * u64 * s.r;
  for (size_t k = 0; k < shared_slots; ++k) s.c[k] = slope * a.c[k];
  s.doubt = inherited(a.doubt);
  if (!std::isfinite(s.r) || s.r == 0) s.lin = s.var = s.b = s.e = 0;
  return settle(s);
}

Scalar Tracked::shared(const Reduced& reduced) {
  Scalar s = reduced.value;
  if (s.var == 0) return s;
  WARPFUZZ_CHECK(next_slot_ < shared_slots, "a row shares more than {} errors", shared_slots);
  s.c[next_slot_++] = std::sqrt(s.var);
  s.var = 0;
  return s;
}

// --- output

void Tracked::output(size_t row, const Row& value, size_t output) {
  const size_t length = value.n;
  if (length == 0) return;
  OutputExpectation& expectation = *outputs_[output].expectation;
  const size_t begin = row * outputs_[output].stride;
  double* r = expectation.value.data() + begin;
  double* e = expectation.oracle_error.data() + begin;
  double* tolerance = expectation.tolerance.data() + begin;
  double* certain = expectation.certain.data() + begin;
  uint8_t* allowed = expectation.allowed.data() + begin;
  std::memcpy(r, value.r, length * sizeof(double));
  if (!toleranced(value)) {
    std::fill_n(e, length, 0.0);
    std::fill_n(tolerance, length, 0.0);
    std::fill_n(certain, length, 0.0);
  } else {
    const double eta = p_.flush ? p_.normal : 0;
    double* square = arena_.doubles(length);
    std::memcpy(square, value.var, length * sizeof(double));
    for (const double* c : value.c) {
      if (c == nullptr) continue;
      for (size_t i = 0; i < length; ++i) square[i] += c[i] * c[i];
    }
    const double* b = value.b != nullptr ? value.b : zeros(length);
    const double lambda = lambda_;
#pragma clang loop vectorize(assume_safety)
    for (size_t i = 0; i < length; ++i) {
      const double lin = value.lin[i];
      const double spread = lambda * std::sqrt(square[i]) + b[i];
      tolerance[i] = granted(lin, spread, eta);
      certain[i] = granted(lin, lin, eta);
      e[i] = value.e[i];
    }
  }
  const FormatTraits& t = traits(expectation.dtype);
  const double widest = *std::max_element(tolerance, tolerance + length);
  if (!value.special && value.doubt == nullptr && value.bound + widest < 0.9 * t.largest) {
    std::memset(allowed, class_finite, length);
    return;
  }
  for (size_t i = 0; i < length; ++i) {
    const uint8_t doubt = value.doubt != nullptr ? value.doubt[i] : uint8_t{0};
    allowed[i] = acceptable_classes(t, r[i], tolerance[i], doubt);
    if (!std::isfinite(r[i])) tolerance[i] = certain[i] = e[i] = 0;  // the class is all there is
    if ((doubt & doubt_undetermined) != 0) tolerance[i] = certain[i] = infinity;
  }
}

}  // namespace warpfuzz
