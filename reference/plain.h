// The exact levels of the oracle: the vocabulary of tracked.h over a plain number type
// (double-double or multiprecision) that carries no tolerance. The same reference text instantiates
// it. Computes one row of the output at a time; operands are finite.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "reference/call.h"
#include "reference/constants.h"

namespace warpfuzz {

// The value of a refined element: high + low, high the nearest double.
struct Refined {
  double high = 0;
  double low = 0;
};

// What a number type needs beyond + - * /, comparisons, construction from double and sqrt:
//   static T exp(const T&), log, erf, tanh    (only those that its references use)
//   static T from_decimal(const char*)
//   static Refined refined(const T&)
template <class T>
struct NumberFunctions;

template <class T>
class Plain {
 public:
  using Row = std::vector<T>;
  using Scalar = T;
  struct Reduced {
    T value;
  };
  struct Pivot {
    T value;
  };
  using Matrix = MatrixView;
  struct Moments {
    Row deviation;
    Reduced variance;
  };

  using Rows = std::vector<std::vector<Refined>>;  // per output, the row computed last
  using Sums = std::vector<std::vector<T>>;        // per output, all of its elements

  // `rows` has a row for each output. `sums` has all elements of those that rows add to, or is null
  // where they are not wanted.
  Plain(const Call& call, Rows& rows, Sums* sums = nullptr)
      : call_(call), rows_(rows), sums_(sums) {}

  Row input(size_t position, size_t row, size_t length) const {
    const std::vector<double>& values = call_.input(position).values;
    const size_t begin = row * length;
    const size_t end = std::min(begin + length, values.size());
    Row out;
    out.reserve(end - begin);
    for (size_t i = begin; i < end; ++i) out.push_back(T(values[i]));
    return out;
  }
  Scalar input_scalar(size_t position, size_t index) const {
    return T(call_.input(position).values[index]);
  }
  Scalar exact(double value) const { return T(value); }
  Scalar constant(Constant constant) const {
    return NumberFunctions<T>::from_decimal(info(constant).decimal);
  }
  Scalar inverse_root(size_t value) const { return T(1) / sqrt(T(static_cast<double>(value))); }
  Scalar attribute(double value) const { return T(value); }
  Matrix matrix(size_t position, size_t index) const { return call_.matrix(position, index); }

  Row add(const Row& a, const Row& b) const {
    return zip(a, b, [](const T& x, const T& y) -> T { return x + y; });
  }
  Row add(const Row& a, const T& b) const {
    return map(a, [&](const T& x) -> T { return x + b; });
  }
  Row subtract(const Row& a, const T& b) const {
    return map(a, [&](const T& x) -> T { return x - b; });
  }
  Row multiply(const Row& a, const Row& b) const {
    return zip(a, b, [](const T& x, const T& y) -> T { return x * y; });
  }
  Row multiply(const Row& a, const T& b) const {
    return map(a, [&](const T& x) -> T { return x * b; });
  }
  Row scale(const Row& a, const T& s, const Row& w) const { return multiply(multiply(a, s), w); }
  Row square(const Row& a) const {
    return map(a, [](const T& x) -> T { return x * x; });
  }
  Row divide(const Row& a, const Row& b) const {
    return zip(a, b, [](const T& x, const T& y) -> T { return x / y; });
  }
  Row divide(const Row& a, const T& b) const {
    return map(a, [&](const T& x) -> T { return x / b; });
  }
  Row negate(const Row& a) const {
    return map(a, [](const T& x) -> T { return -x; });
  }
  Row relu(const Row& a) const {
    return map(a, [](const T& x) -> T { return x > T(0) ? x : T(0); });
  }
  Row reciprocal(const Row& a) const {
    return map(a, [](const T& x) -> T { return T(1) / x; });
  }
  Row exp(const Row& a) const {
    return map(a, [](const T& x) -> T { return NumberFunctions<T>::exp(x); });
  }
  Row one_plus_erf(const Row& a) const {
    return map(a, [](const T& x) -> T { return T(1) + NumberFunctions<T>::erf(x); });
  }
  Row tanh(const Row& a) const {
    return map(a, [](const T& x) -> T { return NumberFunctions<T>::tanh(x); });
  }

  Row broadcast(const T& s, size_t n) const { return Row(n, s); }

  Row where_positive(const Row& x, const Row& a, const Row& b) const {
    Row out = b;
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] > T(0)) out[i] = a[i];
    }
    return out;
  }
  Row zero_at_minus_infinity(const Row&, const Row& value) const { return value; }
  Row magnitude(const Row& a) const {
    return map(a, [](const T& x) -> T { return x > T(0) ? x : -x; });
  }
  Scalar greatest(const Row& a) const { return maximum(a).value; }
  Scalar position_of_greatest(const Row& a) const {
    size_t position = 0;
    for (size_t i = 1; i < a.size(); ++i) {
      if (a[i] > a[position]) position = i;
    }
    return T(static_cast<double>(position));
  }
  Row sum_of(const Row& a, const Row& b, const Row& c, double) const { return add(add(a, b), c); }
  Row times_difference(const Row& y, const Row& a, const T& s) const {
    return multiply(y, subtract(a, s));
  }

  Scalar add(const T& a, const T& b) const { return a + b; }
  Scalar add(const T& a, const Pivot& b) const { return a + b.value; }
  Scalar multiply(const T& a, const T& b) const { return a * b; }
  Scalar divide(const T& a, const T& b) const { return a / b; }
  Scalar rsqrt(const T& a) const { return T(1) / sqrt(a); }
  Scalar log(const T& a) const { return NumberFunctions<T>::log(a); }

  Reduced sum(const Row& a) const {
    T total(0);
    for (const T& x : a) total = total + x;
    return {total};
  }
  Reduced mean(const Row& a) const { return {sum(a).value / T(static_cast<double>(a.size()))}; }
  Pivot maximum(const Row& a) const {
    T highest = a.front();
    for (const T& x : a) {
      if (x > highest) highest = x;
    }
    return {highest};
  }
  Row exp_shift(const Row& a, const Pivot& pivot) const { return exp(subtract(a, pivot.value)); }
  Moments moments(const Row& a) const {
    Row deviation = subtract(a, mean(a).value);
    Reduced variance = mean(square(deviation));
    return {std::move(deviation), variance};
  }
  Scalar shared(const Reduced& reduced) const { return reduced.value; }
  Scalar spent(const Reduced& reduced) const { return reduced.value; }
  Row scan(const Row& a) const {
    T total(0);
    return map(a, [&](const T& x) -> T { return total = total + x; });
  }

  Row times(const Row& a, const Matrix& m) const {
    Row out(m.columns, T(0));
    for (size_t i = 0; i < a.size(); ++i) {
      for (size_t j = 0; j < m.columns; ++j) {
        out[j] = out[j] + a[i] * T(m.values[i * m.columns + j]);
      }
    }
    return out;
  }
  Row integer_times(const Row& a, const Matrix& m) const { return times(a, m); }
  Row scores(const Row& a, const Matrix& m, size_t count, const T& scale) const {
    Row out(count, T(0));
    for (size_t j = 0; j < count; ++j) {
      for (size_t i = 0; i < a.size(); ++i) {
        out[j] = out[j] + a[i] * T(m.values[j * m.columns + i]);
      }
    }
    return multiply(out, scale);
  }
  Row weighted_mean(const Row& w, const Matrix& m, DType) const {
    MatrixView used = m;
    used.rows = w.size();
    return divide(times(w, used), sum(w).value);
  }

  Row gated_delta(const Matrix& q, const Matrix& k, const Matrix& v, const double* alpha,
                  const double* beta) const {
    const size_t depth = q.columns, columns = v.columns;
    std::vector<T> state(columns * depth, T(0));
    Row out;
    for (size_t t = 0; t < q.rows; ++t) {
      const double *key = k.values + t * depth, *query = q.values + t * depth;
      for (size_t j = 0; j < columns; ++j) {
        T* s = state.data() + j * depth;
        T read(0), o(0);
        for (size_t i = 0; i < depth; ++i) read = read + T(key[i]) * s[i];
        const T x = T(beta[t]) * (T(v.values[t * columns + j]) - T(alpha[t]) * read);
        for (size_t i = 0; i < depth; ++i) {
          s[i] = T(alpha[t]) * s[i] + T(key[i]) * x;
          o = o + T(query[i]) * s[i];
        }
        out.push_back(o);
      }
    }
    return out;
  }

  void output(size_t, const Row& row, size_t output = 0) const {
    rows_[output].clear();
    for (const T& x : row) rows_[output].push_back(NumberFunctions<T>::refined(x));
  }
  void output(size_t row, const T& value, size_t k = 0) const { output(row, Row{value}, k); }
  void add_to(size_t output, size_t target, const Row& row) const {
    if (sums_ == nullptr) return;
    T* sum = (*sums_)[output].data() + target * row.size();
    for (size_t i = 0; i < row.size(); ++i) sum[i] = sum[i] + row[i];
  }

 private:
  template <class F>
  static Row map(const Row& a, F f) {
    Row out;
    out.reserve(a.size());
    for (const T& x : a) out.push_back(f(x));
    return out;
  }
  template <class F>
  static Row zip(const Row& a, const Row& b, F f) {
    Row out;
    out.reserve(a.size());
    for (size_t i = 0; i < a.size(); ++i) out.push_back(f(a[i], b[i]));
    return out;
  }

  const Call& call_;
  Rows& rows_;
  Sums* sums_;
};

}  // namespace warpfuzz
