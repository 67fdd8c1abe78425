// The tracked number: a value in double that carries a bound on its own error and the error that an
// honest float kernel may make on this very input (reference/NUMERICS.md, "The tracked number").
// Rows are structs of arrays in an arena, valid until the next reset(). A row without tolerances is
// exact: every honest kernel has these very values. Reductions come back as `Reduced`, which only
// shared() or spent() turn into a usable scalar, so that an error common to a row cannot be taken
// for independent ones by forgetting to say so; a maximum that cancels comes back as `Pivot`, which
// only exp_shift() and the addition after its logarithm take. All state is per instance; not
// thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/arena.h"
#include "reference/call.h"
#include "reference/constants.h"
#include "reference/oracle.h"
#include "reference/product_tolerance.h"

namespace warpfuzz {

inline constexpr size_t shared_slots = 4;

Precision precision_of(const Contract& contract);

struct Row {
  size_t n = 0;
  double* r = nullptr;    // value
  double* lin = nullptr;  // certain first-order error bound; null: exact, then var and e are too
  double* var = nullptr;  // variance of the independent errors
  double* e = nullptr;    // |r - exact value|
  double* b = nullptr;    // systematic part, adds linearly; null: 0
  double* c[shared_slots] = {};  // signed 1-sigma coefficients of errors shared by the row
  uint8_t* doubt = nullptr;      // per element: classes that overflow on the way makes acceptable
  double quantum = 0;            // exact rows: every r is a multiple; 0: unknown
  double bound = 0;              // at least every finite |r|
  double floor = 0;              // at most every nonzero |r|, also as an honest kernel has it
  bool special = false;          // some r may be NaN or infinite because an input was
  bool weights = false;          // of a softmax: an online kernel rescales their sums as it goes
};

struct Scalar {
  double r = 0, lin = 0, var = 0, e = 0, b = 0;
  double c[shared_slots] = {};
  double quantum = 0;
  uint8_t doubt = 0;
};

struct Reduced {
  Scalar value;
};

struct Pivot {
  double r = 0;
  uint8_t doubt = 0;
};

struct Sums;

// Where an output goes: row after row `stride` elements apart, or into sums that rows add to.
struct OutputTarget {
  OutputExpectation* expectation = nullptr;
  size_t stride = 0;
  Sums* sums = nullptr;
};

class Tracked {
 public:
  using Row = warpfuzz::Row;
  using Scalar = warpfuzz::Scalar;
  using Reduced = warpfuzz::Reduced;
  using Pivot = warpfuzz::Pivot;
  using Matrix = MatrixView;
  struct Moments {
    Row deviation;
    Reduced variance;
  };

  // `careful` is the second look: it doubts the independence of rounding errors (NUMERICS.md).
  // The arena is this instance's alone for its life.
  Tracked(const Call& call, std::span<const OutputTarget> outputs, Arena& arena,
          double lambda = first_look_lambda, bool careful = false);

  // Forgets the rows handed out so far; called before each row of the output.
  void reset();

  // --- operands
  Row input(size_t position, size_t row, size_t length);
  Scalar input_scalar(size_t position, size_t index) const;
  Scalar exact(double value) const;
  Scalar constant(Constant constant) const;
  Scalar inverse_root(size_t value) const;  // 1/sqrt(value)
  Scalar attribute(double value) const;     // rounded to the accumulator's type by kernels
  Matrix matrix(size_t position, size_t index) const { return call_.matrix(position, index); }

  // --- elementwise
  Row add(const Row& a, const Row& b);
  Row add(const Row& a, const Scalar& b);
  Row subtract(const Row& a, const Scalar& b);
  Row multiply(const Row& a, const Row& b);
  Row multiply(const Row& a, const Scalar& b);
  Row square(const Row& a);
  Row scale(const Row& a, const Scalar& s, const Row& w);  // a s w, associated either way
  Row divide(const Row& a, const Row& b);
  Row divide(const Row& a, const Scalar& b);
  Row negate(const Row& a);
  Row relu(const Row& a);
  Row reciprocal(const Row& a);
  Row exp(const Row& a);
  Row tanh(const Row& a);

  Row broadcast(const Scalar& s, size_t n);

  // --- choices between values
  Row where_positive(const Row& x, const Row& a, const Row& b);  // a where x > 0 or NaN, else b
  // `value`, a function of x whose formula is NaN at -infinity and whose limit there is 0.
  Row zero_at_minus_infinity(const Row& x, const Row& value);
  Row magnitude(const Row& a);                // |a|
  Scalar greatest(const Row& a);              // NaN if any element is
  Scalar position_of_greatest(const Row& a);  // of the first; NaN counts as the greatest

  // --- expressions that kernels associate in different ways, all granted
  Row one_plus_erf(const Row& a);  // or erfc(-a)
  // In any order; all may be multiplied by `scale` before and divided by it after.
  Row sum_of(const Row& a, const Row& b, const Row& c, double scale);
  Row times_difference(const Row& y, const Row& a, const Scalar& s);  // y (a - s) or y a - y s

  // --- scalars
  Scalar add(const Scalar& a, const Scalar& b);
  Scalar add(const Scalar& a, const Pivot& b);
  Scalar multiply(const Scalar& a, const Scalar& b);
  Scalar divide(const Scalar& a, const Scalar& b);
  Scalar rsqrt(const Scalar& a);
  Scalar log(const Scalar& a);

  // --- reductions
  Reduced sum(const Row& a);
  Reduced mean(const Row& a);
  Pivot maximum(const Row& a);
  Row exp_shift(const Row& a, const Pivot& maximum);  // exp(a - maximum)
  Moments moments(const Row& a);                      // deviations from the mean, variance
  Scalar shared(const Reduced& reduced);  // to be broadcast back over the row it came from
  Scalar spent(const Reduced& reduced) const { return reduced.value; }  // used once
  Row scan(const Row& a);                                               // sums of a_0 .. a_i

  // --- products with exact matrices
  Row times(const Row& a, const Matrix& m);  // sum over k of a_k m[k][j]
  // The same of integers, summed in integers, then converted to the accumulator's type.
  Row integer_times(const Row& a, const Matrix& m);
  // scale * sum over k of a_k m[j][k], j < count; the scale may be applied to a first.
  Row scores(const Row& a, const Matrix& m, size_t count, const Scalar& scale);
  // sum_j w_j m[j][t] / sum_j w_j; the weights may be stored as `storage` on the way.
  Row weighted_mean(const Row& w, const Matrix& m, DType storage);

  // --- recurrences
  // Of one head: q, k [steps,dk], v [steps,dv], alpha, beta [steps]; gives o [steps,dv], see
  // gated_delta.cc. Granted: any association of a step, and chunks of steps solved by substitution.
  Row gated_delta(const Matrix& q, const Matrix& k, const Matrix& v, const double* alpha,
                  const double* beta);

  void output(size_t row, const Row& value, size_t output = 0);
  void output(size_t row, const Scalar& value, size_t output = 0);  // rows of one element
  // The row is one addend of each element of a lane of an output of sums; kernels may add in any
  // order. finish() writes that output once all rows have been added.
  void add_to(size_t output, size_t target, const Row& value);
  void finish(size_t output);

 private:
  // What a primitive knows about its result before computing it.
  struct Facts {
    size_t n = 0;
    double bound = 0;
    double floor = 0;
    double quantum = 0;
    bool special = false;
  };

  Row fresh(const Facts& facts, bool tolerances);
  double tau(const Scalar& s) const;
  bool is_exact(double bound, double quantum) const;
  double order_variance(double r, double q, double k) const;
  double tensor_core_drift(double r, double q, double k) const;

  template <class A, class B, class Element>
  Row combine(const A& a, const B& b, const Facts& facts, double inflate_lin, double inflate_var,
              Element element);
  void carry(const Row& from, const double* derivative, Row& to);
  void carry(const Scalar& from, const double* derivative, Row& to);
  double* zeros(size_t n);
  void ensure_b(Row& row);
  uint8_t* ensure_doubt(Row& row);
  void doubt_all(Row& row, uint8_t added);
  void inherit_doubt(const Row& from, Row& to);
  void inherit_doubt(const Scalar& from, Row& to);
  void settle(Row& row);  // underflow and overflow of the row just computed
  void mark_underflow(Row& row);
  void mark_overflow(Row& row);
  Scalar settle(Scalar s) const;
  Row product(const Row& a, const double* m, size_t stride, size_t n, const Operand& operand,
              int roundings_before);
  void add_alignment_loss(const Row& a, const double* m, size_t stride, const Operand& operand,
                          Row& out);
  void mark_partial_overflow(const Row& a, const double* m, size_t stride, Row& out);
  void weigh_specials(const Row& p, const Matrix& m, double threshold, Row& out);
  void doubt_weights(const Row& w, const Row& p, const Matrix& m, double storage_roundoff,
                     Row& out);

  const Call& call_;
  std::span<const OutputTarget> outputs_;
  Precision p_;
  double lambda_;
  bool careful_;
  bool half_inputs_;
  size_t next_slot_ = 0;
  Arena& arena_;
  std::vector<double> transposed_;  // of the matrix below, kept across rows
  const double* transposed_of_ = nullptr;
};

}  // namespace warpfuzz
