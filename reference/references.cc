#include <cmath>
#include <limits>

#include "reference/reference.h"

namespace warpfuzz {

std::span<const Reference* const> references() {
  static constexpr const Reference* table[] = {
#define WARPFUZZ_OPERATOR(name) &name##_reference,
#include "reference/operators.def"
#undef WARPFUZZ_OPERATOR
  };
  return table;
}

const Reference* find_reference(std::string_view name, std::string_view op_type) {
  for (const Reference* reference : references()) {
    if (reference->name == name) return reference;
  }
  for (const Reference* reference : references()) {
    if (reference->name == op_type || (!op_type.empty() && reference->op_type == op_type)) {
      return reference;
    }
  }
  return nullptr;
}

size_t Reference::length(const Call& call, size_t output) const {
  if (outputs[output] == OutputForm::sums) return call.output_last_extent(output);
  const Geometry shape = geometry(call);
  if (output == 0) return shape.length;
  return shape.rows == 0 ? 0 : call.output_size(output) / shape.rows;
}

void leave_open(OutputExpectation& y, size_t begin, size_t count) {
  for (size_t i = begin; i < begin + count; ++i) {
    y.allowed[i] = class_any;
    y.tolerance[i] = y.certain[i] = std::numeric_limits<double>::infinity();
  }
}

void allow_exact(OutputExpectation& y, size_t element, double value) {
  y.value[element] = value;
  y.oracle_error[element] = y.tolerance[element] = y.certain[element] = 0;
  y.allowed[element] |= class_finite;
}

void allow_limit_at_minus_infinity(const Call& call, OutputExpectation& y) {
  if (!call.input(0).has_special) return;
  const std::vector<double>& x = call.input(0).values;
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isinf(x[i]) && x[i] < 0) allow_exact(y, i, 0);
  }
}

void allow_nan_beside_infinity(const Call& call, OutputExpectation& y) {
  if (!call.input(0).has_special) return;
  const std::vector<double>& x = call.input(0).values;
  const size_t n = call.input(0).last_extent();
  for (size_t begin = 0; begin < x.size(); begin += n) {
    bool infinite = false;
    for (size_t j = begin; j < begin + n; ++j) infinite = infinite || std::isinf(x[j]);
    if (!infinite) continue;
    for (size_t j = begin; j < begin + n; ++j) y.allowed[j] |= class_nan;
  }
}

}  // namespace warpfuzz
