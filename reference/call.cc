#include "reference/call.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "reference/crew.h"
#include "reference/number_format.h"
#include "schemas/check.h"

namespace warpfuzz {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest_double = std::numeric_limits<double>::max();

// Laws whose values lie on a grid coarse enough for exact sums.
constexpr ValueLaw lattice_laws[] = {ValueLaw::lattice,  ValueLaw::coarse_lattice,
                                     ValueLaw::constant, ValueLaw::all_equal,
                                     ValueLaw::one_hot,  ValueLaw::signed_zeros};

bool is_lattice(ValueLaw law) {
  return std::find(std::begin(lattice_laws), std::end(lattice_laws), law) != std::end(lattice_laws);
}

struct Summary {
  double largest = 0;
  double smallest = infinity;
  bool special = false;
};

Summary summary_of(std::span<const double> values) {
  double largest = 0;
  double smallest = infinity;
  bool special = false;
  for (const double value : values) {
    const double magnitude = std::fabs(value);
    const bool finite = magnitude <= largest_double;
    special |= !finite;
    largest = finite && magnitude > largest ? magnitude : largest;
    smallest = magnitude > 0 && magnitude < smallest ? magnitude : smallest;
  }
  return {largest, smallest, special};
}

void summarise(Operand& operand) {
  const std::span<const double> values = operand.values;
  std::vector<Summary> summaries(values.size() / Crew::elements + 1);
  Crew::share(values.size(), Crew::elements, [&](size_t begin, size_t end) {
    summaries[begin / Crew::elements] = summary_of(values.subspan(begin, end - begin));
  });
  Summary all;
  for (const Summary& part : summaries) {
    all.largest = std::max(all.largest, part.largest);
    all.smallest = std::min(all.smallest, part.smallest);
    all.special |= part.special;
  }
  operand.largest = all.largest;
  operand.smallest = all.smallest;
  operand.has_special = all.special;
}

struct SlackName {
  std::string_view name;
  bool Slack::* member;
};
constexpr SlackName slack_names[] = {
    {"half_probabilities", &Slack::half_probabilities},
    {"tanh_approx", &Slack::tanh_approx},
    {"one_pass_variance", &Slack::one_pass_variance},
    {"fused_exponent", &Slack::fused_exponent},
};

}  // namespace

void Call::assign(const Case& c, std::span<const Tensor> inputs) {
  schema_ = c.schema;
  attributes_ = c.attributes;
  WARPFUZZ_CHECK(inputs.size() == schema_->inputs.size(), "{} inputs for {}", inputs.size(),
                 schema_->name);
  inputs_.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    Operand& operand = inputs_[i];
    operand.dtype = inputs[i].dtype;
    operand.shape = inputs[i].shape;
    decode_tensor(inputs[i], operand.values);
    operand.on_lattice = i < c.inputs.size() && is_lattice(c.inputs[i].law);
    summarise(operand);
    operand.quantum = operand.on_lattice ? quantum_of(operand.values) : 0;
  }
  outputs_.clear();
  for (const TensorSpec& spec : schema_->outputs) {
    Output& output = outputs_.emplace_back();
    output.dtype = schema_->dtype_combinations[c.dtype_combination].dtypes[spec.dtype_variable];
    for (const size_t axis : spec.axes) {
      output.last_extent = static_cast<size_t>(c.axes[axis]);
      output.size *= output.last_extent;
    }
  }
  slack_ = {};
  for (const std::string& granted : contract().slack) {
    for (const SlackName& known : slack_names) {
      if (granted == known.name) slack_.*known.member = true;
    }
  }
}

MatrixView Call::matrix(size_t position, size_t index) const {
  const Operand& operand = inputs_[position];
  const size_t columns = operand.last_extent();
  const size_t rows = operand.extent(operand.shape.size() - 2);
  return {operand.values.data() + index * rows * columns, rows, columns, &operand};
}

size_t Call::attribute(std::string_view name) const {
  const std::optional<size_t> position = schema_->find_attribute(name);
  if (!position) {
    throw std::invalid_argument(
        fmt::format("{}: attributes: found no \"{}\", which the reference "
                    "of this operator needs",
                    schema_->name, name));
  }
  return *position;
}

double Call::real_attribute(std::string_view name) const {
  return attributes_[attribute(name)].real;
}

bool Call::boolean_attribute(std::string_view name) const {
  return attributes_[attribute(name)].integer != 0;
}

std::string_view Call::choice_attribute(std::string_view name) const {
  const size_t position = attribute(name);
  return schema_->attributes[position].choices[static_cast<size_t>(attributes_[position].integer)];
}

double quantum_of(std::span<const double> values) {
  int lowest = std::numeric_limits<int>::max();
  for (const double value : values) {
    const uint64_t magnitude = std::bit_cast<uint64_t>(value) & 0x7fff'ffff'ffff'ffff;
    const int exponent = static_cast<int>(magnitude >> 52);
    if (magnitude == 0 || exponent == 0x7ff) continue;
    // The implicit bit stops the count at 52; no narrower format reaches double's subnormals.
    const uint64_t significand = (magnitude & 0xf'ffff'ffff'ffff) | 0x10'0000'0000'0000;
    lowest = std::min(lowest, exponent + std::countr_zero(significand));
  }
  return lowest == std::numeric_limits<int>::max() ? infinity : std::ldexp(1.0, lowest - 1075);
}

}  // namespace warpfuzz
