// The references once more, for the mutation test: the same text over a number of which one
// primitive can be told to err. CMake compiles the sources of the references with this file before
// them; linked first, they take the place of the library's.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "reference/number_format.h"
#include "reference/reference.h"

namespace warpfuzz::testing_support {

// What goes wrong. A site is the ordinal of a primitive's result within one row of a reference.
struct Mutation {
  static constexpr size_t none = SIZE_MAX;
  size_t site = none;       // its result is an eighth too large, in every second element of a row
  bool last_place = false;  // every output is one unit in its last place too large
  size_t sites = 0;         // seen so far
  std::string_view primitive;  // whose result `site` is
};
inline Mutation mutation;

class Mutable {
 public:
  using Row = Tracked::Row;
  using Scalar = Tracked::Scalar;
  using Reduced = Tracked::Reduced;
  using Pivot = Tracked::Pivot;
  using Matrix = Tracked::Matrix;
  using Moments = Tracked::Moments;

  explicit Mutable(Tracked& a) : a_(a) {}
  ~Mutable() { mutation.sites = std::max(mutation.sites, site_); }
  Mutable(const Mutable&) = delete;
  Mutable& operator=(const Mutable&) = delete;

  Row input(size_t position, size_t row, size_t length) {
    return erring("input", a_.input(position, row, length));
  }
  Scalar input_scalar(size_t position, size_t index) {
    return erring("input_scalar", a_.input_scalar(position, index));
  }
  Scalar exact(double value) { return erring("exact", a_.exact(value)); }
  Scalar inverse_root(size_t value) { return erring("inverse_root", a_.inverse_root(value)); }
#define WARPFUZZ_MUTABLE(primitive)                       \
  template <class... Operands>                            \
  auto primitive(const Operands&... operands) {           \
    return erring(#primitive, a_.primitive(operands...)); \
  }
  WARPFUZZ_MUTABLE(constant)
  WARPFUZZ_MUTABLE(attribute)
  WARPFUZZ_MUTABLE(add)
  WARPFUZZ_MUTABLE(subtract)
  WARPFUZZ_MUTABLE(multiply)
  WARPFUZZ_MUTABLE(square)
  WARPFUZZ_MUTABLE(scale)
  WARPFUZZ_MUTABLE(divide)
  WARPFUZZ_MUTABLE(negate)
  WARPFUZZ_MUTABLE(relu)
  WARPFUZZ_MUTABLE(reciprocal)
  WARPFUZZ_MUTABLE(exp)
  WARPFUZZ_MUTABLE(tanh)
  WARPFUZZ_MUTABLE(broadcast)
  WARPFUZZ_MUTABLE(where_positive)
  WARPFUZZ_MUTABLE(zero_at_minus_infinity)
  WARPFUZZ_MUTABLE(magnitude)
  WARPFUZZ_MUTABLE(greatest)
  WARPFUZZ_MUTABLE(position_of_greatest)
  WARPFUZZ_MUTABLE(one_plus_erf)
  WARPFUZZ_MUTABLE(sum_of)
  WARPFUZZ_MUTABLE(times_difference)
  WARPFUZZ_MUTABLE(rsqrt)
  WARPFUZZ_MUTABLE(log)
  WARPFUZZ_MUTABLE(sum)
  WARPFUZZ_MUTABLE(mean)
  WARPFUZZ_MUTABLE(maximum)
  WARPFUZZ_MUTABLE(exp_shift)
  WARPFUZZ_MUTABLE(moments)
  WARPFUZZ_MUTABLE(scan)
  WARPFUZZ_MUTABLE(times)
  WARPFUZZ_MUTABLE(integer_times)
  WARPFUZZ_MUTABLE(scores)
  WARPFUZZ_MUTABLE(weighted_mean)
  WARPFUZZ_MUTABLE(gated_delta)
#undef WARPFUZZ_MUTABLE

  // These compute nothing.
  Matrix matrix(size_t position, size_t index) const { return a_.matrix(position, index); }
  Scalar shared(const Reduced& reduced) { return a_.shared(reduced); }
  Scalar spent(const Reduced& reduced) const { return a_.spent(reduced); }
  template <class Value>
  void output(size_t row, const Value& value, size_t k = 0) {
    a_.output(row, value, k);
  }
  void add_to(size_t output, size_t target, const Row& value) { a_.add_to(output, target, value); }

 private:
  static constexpr double factor = 1.125;

  bool errs(std::string_view primitive) {
    if (site_++ != mutation.site) return false;
    mutation.primitive = primitive;
    return true;
  }
  Row erring(std::string_view primitive, Row row) {
    if (!errs(primitive)) return row;
    std::vector<double>& values = changed_.emplace_back(row.r, row.r + row.n);
    for (size_t i = 0; i < row.n; i += 2) values[i] *= factor;
    row.r = values.data();
    return row;
  }
  Scalar erring(std::string_view primitive, Scalar scalar) {
    if (errs(primitive)) scalar.r *= factor;
    return scalar;
  }
  Reduced erring(std::string_view primitive, Reduced reduced) {
    if (errs(primitive)) reduced.value.r *= factor;
    return reduced;
  }
  Pivot erring(std::string_view primitive, Pivot pivot) {
    if (errs(primitive)) pivot.r *= factor;
    return pivot;
  }
  Moments erring(std::string_view primitive, const Moments& moments) {
    return {erring(primitive, moments.deviation), erring(primitive, moments.variance)};
  }

  Tracked& a_;
  size_t site_ = 0;
  std::deque<std::vector<double>> changed_;  // rows refer to them until the row is written
};

inline void shift_by_last_place(std::span<OutputExpectation> outputs) {
  for (OutputExpectation& y : outputs) {
    for (double& value : y.value) {
      if (!std::isfinite(value)) continue;
      value += info(y.dtype).floating ? unit_in_last_place(y.dtype, value) : 1;
    }
  }
}

template <class Op, DoubleDoubleLevel level = DoubleDoubleLevel::available>
constexpr Reference mutable_reference(std::string_view name, std::string_view op_type = {}) {
  Reference reference = make_reference<Op, level>(name, op_type);
  reference.tracked = [](Tracked& a, const Call& call, size_t row) {
    Mutable erring(a);
    Op::row(erring, call, row);
  };
  reference.allow = [](const Call& call, std::span<OutputExpectation> outputs) {
    constexpr auto allow = make_reference<Op, level>("").allow;
    if constexpr (allow != nullptr) allow(call, outputs);
    if (mutation.last_place) shift_by_last_place(outputs);
  };
  return reference;
}

}  // namespace warpfuzz::testing_support

#ifdef WARPFUZZ_MUTABLE_REFERENCES  // in the sources of references only
#define make_reference testing_support::mutable_reference
#endif
