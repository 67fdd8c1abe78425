#include "fuzzers/controls.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "reference/number_format.h"

namespace warpfuzz {
namespace {

constexpr int64_t smallest_tame_axis = 128;
constexpr int64_t control_reduction = 512;  // long enough for a narrow accumulator to lose bits
constexpr int64_t control_batch = 2;
constexpr int few_bits = 7;
constexpr int64_t most_control_work = int64_t{1} << 23;

int64_t tame(int64_t value, int64_t at_least, const Axis& axis) {
  auto result =
      static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(value, at_least))));
  while (result > axis.maximum && result > 1) result /= 2;
  return std::max(result, axis.minimum);
}

bool constraints_hold(const Case& c) {
  const std::vector<int64_t> values = c.expression_values();
  return std::all_of(c.schema->constraints.begin(), c.schema->constraints.end(),
                     [&](const Expression& e) { return e.evaluate(values) != 0; });
}

}  // namespace

std::optional<Case> control_case(const Case& c, Probe probe) {
  Case control = c;
  const bool values = probe == Probe::coarse_values || probe == Probe::lattice_values;
  for (size_t i = 0; i < control.axes.size(); ++i) {
    const Axis& axis = c.schema->axes[i];
    if (axis.constant) continue;
    if (axis.derived) {
      control.axes[i] = axis.derived->evaluate(control.expression_values());
    } else if (axis.role == AxisRole::batch) {
      if (values) control.axes[i] = std::clamp(control_batch, axis.minimum, axis.maximum);
      if (control.axes[i] == 0) control.axes[i] = 1;
    } else if (values) {
      control.axes[i] = tame(axis.role == AxisRole::reduction ? control_reduction : 1,
                             axis.role == AxisRole::reduction ? control_reduction : 16, axis);
    } else {
      control.axes[i] = tame(control.axes[i], smallest_tame_axis, axis);
    }
  }
  if (values) {
    for (TensorCase& input : control.inputs) {
      input.law = probe == Probe::coarse_values ? ValueLaw::coarse_lattice : ValueLaw::lattice;
      input.seed = 0;  // also selects the few-bit variant of the lattice
      input.pokes.clear();
    }
  }
  if (!constraints_hold(control) || control.work() > most_control_work) return std::nullopt;
  return control;
}

std::vector<Tensor> rounded(std::vector<Tensor> inputs) {
  for (Tensor& input : inputs) {
    if (!info(input.dtype).floating) continue;
    std::vector<double> values = decode_tensor(input);
    for (double& value : values) {
      int exponent = 0;
      const double fraction = std::frexp(value, &exponent);
      value = std::ldexp(std::nearbyint(std::ldexp(fraction, few_bits)), exponent - few_bits);
    }
    encode_tensor(values, input);
  }
  return inputs;
}

}  // namespace warpfuzz
