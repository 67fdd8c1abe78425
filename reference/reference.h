// A reference: the definition of one operator, written once as a template over the number that
// computes it (tracked.h, plain.h) and listed in one table. A reference computes one row of its
// output at a time; which elements form a row is its own choice (Geometry).
//
// To add an operator: write <op>.cc with a struct that has
//   static Geometry geometry(const Call&);
//   template <class A> static void row(A& a, const Call& call, size_t row);
// and optionally `static void allow(const Call&, OutputExpectation&)`, then its line in
// operators.def.
//
// Several outputs, or one that rows add to: a member
//   static constexpr OutputForm outputs[] = {OutputForm::rows, OutputForm::sums};
// names the form of each. One row() then serves them all: it ends in a.output(row, value, k) for an
// output k of rows and in a.add_to(k, target, value) for one of sums, and allow() takes a
// std::span<OutputExpectation>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "reference/call.h"
#include "reference/double_double.h"
#include "reference/multiprecision.h"
#include "reference/oracle.h"
#include "reference/plain.h"
#include "reference/quantisation.h"
#include "reference/tracked.h"

namespace warpfuzz {

struct Geometry {
  size_t rows = 0;
  size_t length = 0;  // elements of a row of the first output; the last row may be shorter
};

enum class OutputForm : uint8_t {
  rows,  // each row of the reference writes its own; those of further outputs are of equal length
  sums,  // starts as 0; rows add to lanes along the last axis, in an order that is free
};
inline constexpr OutputForm single_output[] = {OutputForm::rows};

struct Reference {
  std::string_view name;
  std::string_view op_type;  // another name by which schemas may ask for it
  Geometry (*geometry)(const Call&);
  void (*tracked)(Tracked&, const Call&, size_t row);
  void (*double_double)(Plain<DoubleDouble>&, const Call&, size_t row);  // null: skip to level 2
  void (*multiprecision)(Plain<Multiprecision>&, const Call&, size_t row);
  // Widens what is allowed where honest kernels differ by convention; null: nothing to add.
  void (*allow)(const Call&, std::span<OutputExpectation>);
  // Of a quantised operator: what outputs (decoded) stand for; null elsewhere.
  Approximation (*approximation)(const Call&, std::span<const std::vector<double>> outputs,
                                 std::span<const OutputExpectation>);
  bool elementwise;  // output element i depends on element i of input 0 only
  bool product;      // the output is the matrix product of the two inputs, as product_rule.h has it
  std::span<const OutputForm> outputs = single_output;

  // Elements of a row of this output, or of the lanes that rows add to.
  size_t length(const Call& call, size_t output) const;
};

// Whether the reference uses functions that double-double lacks.
enum class DoubleDoubleLevel { available, skipped };

template <class Op, DoubleDoubleLevel level = DoubleDoubleLevel::available>
constexpr Reference make_reference(std::string_view name, std::string_view op_type = {}) {
  Reference reference{};
  reference.name = name;
  reference.op_type = op_type;
  reference.geometry = Op::geometry;
  reference.tracked = [](Tracked& a, const Call& call, size_t row) { Op::row(a, call, row); };
  if constexpr (level == DoubleDoubleLevel::available) {
    reference.double_double = [](Plain<DoubleDouble>& a, const Call& call, size_t row) {
      Op::row(a, call, row);
    };
  }
  reference.multiprecision = [](Plain<Multiprecision>& a, const Call& call, size_t row) {
    Op::row(a, call, row);
  };
  if constexpr (requires(const Call& call, OutputExpectation& y) { Op::allow(call, y); }) {
    reference.allow = [](const Call& call, std::span<OutputExpectation> y) {
      Op::allow(call, y[0]);
    };
  } else if constexpr (requires { Op::allow; }) {
    reference.allow = Op::allow;
  }
  if constexpr (requires { Op::approximation; }) reference.approximation = Op::approximation;
  if constexpr (requires { Op::outputs; }) reference.outputs = Op::outputs;
  reference.elementwise = requires { Op::elementwise; };
  reference.product = requires { Op::product; };
  return reference;
}

// Elementwise operators take the tensor in pieces.
inline constexpr size_t piece_length = 512;
inline Geometry pieces(const Call& call) {
  return {(call.output_size() + piece_length - 1) / piece_length, piece_length};
}

// Operators over the last axis.
inline Geometry last_axis_rows(const Call& call) {
  const size_t length = call.output_last_extent();
  return {length == 0 ? 0 : call.output_size() / length, length};
}

// Reductions over the last axis of the first input: rows of one element.
inline Geometry single_elements(const Call& call) { return {call.output_size(), 1}; }

// For allow(): the contract says nothing about `count` elements from `begin` on.
void leave_open(OutputExpectation& y, size_t begin, size_t count);
// For allow(): the element may (also) be exactly `value`.
void allow_exact(OutputExpectation& y, size_t element, double value);
// x / root of a sum of squares: the root of a row with an infinity is infinite; its finite elements
// give 0, or NaN where a kernel forms inf / inf on the way.
void allow_nan_beside_infinity(const Call& call, OutputExpectation& y);
// For elementwise operators that tend to 0 at -infinity: NaN by the formula, or the limit.
void allow_limit_at_minus_infinity(const Call& call, OutputExpectation& y);

#define WARPFUZZ_OPERATOR(name) extern const Reference name##_reference;
#include "reference/operators.def"
#undef WARPFUZZ_OPERATOR

std::span<const Reference* const> references();
// By name, else by op_type; null if there is none.
const Reference* find_reference(std::string_view name, std::string_view op_type);

}  // namespace warpfuzz
