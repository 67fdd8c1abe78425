#include "fuzzers/controls.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "fuzzers/plain_case.h"
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

// The row-major positions of a tensor's elements at the given positions of its axes (-1: all).
std::vector<size_t> elements_at(const TensorSpec& spec, const std::vector<int64_t>& shape,
                                const std::vector<int64_t>& position) {
  std::vector<size_t> elements = {0};
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t at = position[spec.axes[d]];
    const int64_t first = at < 0 ? 0 : at, last = at < 0 ? shape[d] : at + 1;
    std::vector<size_t> longer;
    longer.reserve(elements.size() * static_cast<size_t>(last - first));
    for (size_t element : elements) {
      for (int64_t i = first; i < last; ++i) {
        longer.push_back(element * static_cast<size_t>(shape[d]) + static_cast<size_t>(i));
      }
    }
    elements = std::move(longer);
  }
  return elements;
}

// Neighbouring choices, unrelated numbers.
int64_t scramble(uint32_t choice) {
  return static_cast<int64_t>(choice * 0x9E3779B97F4A7C15u >> 33);
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

std::vector<Tensor> tiled(const Case& control, const std::vector<Tensor>& inputs,
                          std::vector<Tensor> made) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& from = inputs[i];
    Tensor& to = made[i];
    if (control.schema->inputs[i].index_axis || from.size() == 0) continue;
    const size_t bytes = info(from.dtype).bytes;
    for (int64_t element = 0; element < to.size(); ++element) {
      int64_t rest = element, source = 0, stride = 1;
      for (size_t d = to.shape.size(); d-- > 0;) {
        source += rest % to.shape[d] % from.shape[d] * stride;
        rest /= to.shape[d];
        stride *= from.shape[d];
      }
      std::copy_n(from.data.data() + static_cast<size_t>(source) * bytes, bytes,
                  to.data.data() + static_cast<size_t>(element) * bytes);
    }
  }
  return made;
}

std::optional<std::vector<Tensor>> with_changed_element(const Case& c, std::vector<Tensor> inputs,
                                                        uint32_t choice) {
  const auto& specs = c.schema->inputs;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const size_t i = (choice + k) % inputs.size();
    const bool changeable = info(inputs[i].dtype).floating || specs[i].index_axis.has_value();
    // An element of a broadcast tensor is several of the call's.
    if (!changeable || inputs[i].size() == 0 || c.inputs[i].layout == Layout::broadcast) continue;
    std::vector<double> values = decode_tensor(inputs[i]);
    double& value = values[static_cast<size_t>(scramble(choice)) % values.size()];
    if (specs[i].index_axis) {
      const auto positions = static_cast<double>(c.axes[*specs[i].index_axis]);
      if (positions < 2) continue;
      value = value + 1 < positions ? value + 1 : 0;
    } else {
      // Large against what it was, and of the sign that no operator ignores.
      value = std::isfinite(value) ? (std::abs(value) < 1024 ? std::abs(value) + 1 : 0.5) : 1;
    }
    encode_tensor(values, inputs[i]);
    return inputs;
  }
  return std::nullopt;
}

std::optional<LoneRow> lone_row(const Case& c, const std::vector<Tensor>& inputs, uint32_t choice) {
  LoneRow row{c, {}, {}};
  std::vector<int64_t> position(c.axes.size(), -1);  // of the batch axes
  int64_t rows = 1;
  for (size_t i = 0; i < c.axes.size(); ++i) {
    const Axis& axis = c.schema->axes[i];
    if (axis.derived) row.c.axes[i] = axis.derived->evaluate(row.c.expression_values());
    if (!axis.variable() || axis.role != AxisRole::batch) continue;
    if (c.axes[i] == 0 || axis.minimum > 1) return std::nullopt;
    rows *= c.axes[i];
    position[i] = scramble(choice + static_cast<uint32_t>(i)) % c.axes[i];
    row.c.axes[i] = 1;
  }
  if (rows < 2 || !constraints_hold(row.c)) return std::nullopt;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<size_t> elements =
        elements_at(c.schema->inputs[i], inputs[i].shape, position);
    const size_t bytes = info(inputs[i].dtype).bytes;
    Tensor& part = row.inputs.emplace_back(inputs[i].dtype, row.c.shape(c.schema->inputs[i]),
                                           std::vector<std::byte>(elements.size() * bytes));
    for (size_t e = 0; e < elements.size(); ++e) {
      std::copy_n(inputs[i].data.data() + elements[e] * bytes, bytes, part.data.data() + e * bytes);
    }
  }
  for (const TensorSpec& output : c.schema->outputs) {
    const bool batched = std::any_of(output.axes.begin(), output.axes.end(),
                                     [&](size_t axis) { return position[axis] >= 0; });
    row.elements.push_back(batched ? elements_at(output, c.shape(output), position)
                                   : std::vector<size_t>());
  }
  return row;
}

}  // namespace warpfuzz
