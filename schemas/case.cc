#include "schemas/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "schemas/axis_rules.h"

namespace warpfuzz {
namespace {

constexpr std::string_view poke_names[] = {
    "0",
    "-0",
    "1",
    "-1",
    "nan",
    "inf",
    "-inf",
    "largest",
    "lowest",
    "smallest_normal",
    "smallest_subnormal",
    "big",
    "tiny",
};
static_assert(std::size(poke_names) == poke_value_count);

// Elements that padding may add to a row-strided tensor, as a multiple of the work limit.
constexpr int64_t padding_share = 4;

int64_t most_padding(const Case& c, const TensorSpec& spec) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < spec.axes.size(); ++i) {
    rows *= std::max<int64_t>(c.axes[spec.axes[i]], 1);
  }
  return std::clamp<int64_t>(padding_share * work_limits[c.size_class] / rows, 1, max_row_padding);
}

std::string attribute_problem(const Attribute& attribute, const AttributeValue& value) {
  const bool real = attribute.kind == AttributeKind::real;
  if (real ? value.integer != 0 : value.real != 0) return "found two values, expected one";
  const double number = real ? value.real : static_cast<double>(value.integer);
  if (number >= attribute.minimum && number <= attribute.maximum) return {};
  return fmt::format("found {}, expected {} to {}", number, attribute.minimum, attribute.maximum);
}

std::string tensor_problem(const Case& c, const TensorSpec& spec, const TensorCase& tensor,
                           bool is_input) {
  if (!spec.allows(tensor.layout)) {
    return fmt::format("found layout {}, which the schema lacks", name(tensor.layout));
  }
  const int64_t padding = tensor.layout == Layout::row_strided ? most_padding(c, spec) : 0;
  if (tensor.row_padding < (padding > 0 ? 1 : 0) || tensor.row_padding > padding) {
    return fmt::format("found row padding {}, expected at most {}", tensor.row_padding, padding);
  }
  const int64_t offset = spec.offsets ? max_offset : 0;
  if (tensor.offset < 0 || tensor.offset > offset) {
    return fmt::format("found offset {}, expected 0 to {}", tensor.offset, offset);
  }
  if (is_input) {
    if (!spec.allows(tensor.law)) {
      return fmt::format("found law {}, which the schema lacks", name(tensor.law));
    }
    if (tensor.pokes.size() > max_pokes) {
      return fmt::format("found {} pokes, expected at most {}", tensor.pokes.size(), max_pokes);
    }
    return {};
  }
  const bool plain = tensor.law == ValueLaw::normal && tensor.seed == 0 && tensor.pokes.empty();
  return plain ? std::string() : "found values for an output, expected none";
}

bool has_views(const TensorCase& tensor) {
  return tensor.layout != Layout::contiguous || tensor.offset != 0;
}

void describe_tensor(const Case& c, size_t i, bool is_input, std::string& text) {
  const TensorSpec& spec = is_input ? c.schema->inputs[i] : c.schema->outputs[i];
  const TensorCase& tensor = is_input ? c.inputs[i] : c.outputs[i];
  if (!is_input && !has_views(tensor)) return;
  text += fmt::format(" {}:", spec.name);
  if (is_input) text += fmt::format(" {} seed {},", name(tensor.law), tensor.seed);
  text += fmt::format(" {}", name(tensor.layout));
  if (tensor.row_padding != 0) text += fmt::format(" padding {}", tensor.row_padding);
  if (tensor.offset != 0) text += fmt::format(" offset {}", tensor.offset);
  for (const Poke& poke : tensor.pokes) {
    text += fmt::format(" [{}]={}", poke.position, name(poke.value));
  }
}

std::string attribute_text(const Attribute& attribute, const AttributeValue& value) {
  if (attribute.kind == AttributeKind::real) return fmt::format("{}", value.real);
  if (attribute.kind == AttributeKind::boolean) return value.integer != 0 ? "true" : "false";
  if (attribute.kind == AttributeKind::choice) {
    return attribute.choices[static_cast<size_t>(value.integer)];
  }
  return fmt::format("{}", value.integer);
}

void legalize_attributes(Case& c, Tier max_tier) {
  const std::vector<Attribute>& attributes = c.schema->attributes;
  c.attributes.resize(attributes.size());
  for (size_t i = 0; i < attributes.size(); ++i) {
    const Attribute& attribute = attributes[i];
    const bool real = attribute.kind == AttributeKind::real;
    double number = real ? c.attributes[i].real : static_cast<double>(c.attributes[i].integer);
    if (std::isnan(number)) number = attribute.usual[0];
    number = std::clamp(number, attribute.minimum, attribute.maximum);
    if (max_tier == Tier::everyday && !attribute.is_usual(number)) number = attribute.usual[0];
    c.attributes[i] =
        real ? AttributeValue{0, number} : AttributeValue{static_cast<int64_t>(number), 0};
  }
}

void legalize_dtypes(Case& c, Tier max_tier) {
  const std::vector<DTypeCombination>& rows = c.schema->dtype_combinations;
  c.dtype_combination %= rows.size();
  if (rows[c.dtype_combination].tier <= max_tier) return;
  const auto allowed = [&](const DTypeCombination& row) { return row.tier <= max_tier; };
  auto steps =
      static_cast<int64_t>(c.dtype_combination) % std::count_if(rows.begin(), rows.end(), allowed);
  auto row = std::find_if(rows.begin(), rows.end(), allowed);
  while (steps-- > 0) row = std::find_if(row + 1, rows.end(), allowed);
  c.dtype_combination = static_cast<size_t>(row - rows.begin());
}

void legalize_axes(Case& c, Tier max_tier, size_t favoured) {
  c.axes.resize(c.schema->axes.size());
  Extents extents(*c.schema, c.axes, c.attributes);
  if (repair(*c.schema, extents, work_limits[c.size_class], max_tier, favoured)) {
    std::copy(extents.axes().begin(), extents.axes().end(), c.axes.begin());
    return;
  }
  c.axes = c.schema->smallest_axes;
  for (size_t i = 0; i < c.attributes.size(); ++i) {
    const Attribute& attribute = c.schema->attributes[i];
    if (attribute.kind == AttributeKind::real) continue;  // constraints cannot depend on it
    c.attributes[i].integer = static_cast<int64_t>(attribute.usual[0]);
  }
}

void legalize_tensor(const Case& c, const TensorSpec& spec, Tier max_tier, bool is_input,
                     TensorCase& tensor) {
  const bool views = max_tier == Tier::exotic;
  if (!views || !spec.allows(tensor.layout)) tensor.layout = Layout::contiguous;
  tensor.offset = views && spec.offsets ? std::clamp<int64_t>(tensor.offset, 0, max_offset) : 0;
  tensor.row_padding = tensor.layout == Layout::row_strided
                           ? std::clamp<int64_t>(tensor.row_padding, 1, most_padding(c, spec))
                           : 0;
  if (is_input) {
    if (!spec.allows(tensor.law)) tensor.law = spec.laws[0];
    if (tensor.pokes.size() > max_pokes) tensor.pokes.resize(max_pokes);
  } else {
    tensor.law = ValueLaw::normal;
    tensor.seed = 0;
    tensor.pokes.clear();
  }
}

}  // namespace

std::string_view name(PokeValue value) { return poke_names[static_cast<size_t>(value)]; }

DType Case::dtype(const TensorSpec& tensor) const {
  return schema->dtype_combinations[dtype_combination].dtypes[tensor.dtype_variable];
}

std::vector<int64_t> Case::shape(const TensorSpec& tensor) const {
  std::vector<int64_t> extents;
  extents.reserve(tensor.axes.size());
  for (size_t axis : tensor.axes) extents.push_back(axes[axis]);
  return extents;
}

std::vector<int64_t> Case::expression_values() const {
  const Extents extents(*schema, axes, attributes);
  return {extents.values().begin(), extents.values().end()};
}

int64_t Case::work() const { return Extents(*schema, axes, attributes).work(); }

void legalize(Case& c, const CaseLimits& limits, size_t favoured) {
  const auto last_class = static_cast<uint8_t>(size_class_count - 1);
  c.size_class = std::min({c.size_class, limits.max_size_class, last_class});
  legalize_dtypes(c, limits.max_tier);
  legalize_attributes(c, limits.max_tier);
  legalize_axes(c, limits.max_tier, favoured);
  c.inputs.resize(c.schema->inputs.size());
  c.outputs.resize(c.schema->outputs.size());
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    legalize_tensor(c, c.schema->inputs[i], limits.max_tier, true, c.inputs[i]);
  }
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    legalize_tensor(c, c.schema->outputs[i], limits.max_tier, false, c.outputs[i]);
  }
  c.extra_runs &= all_extra_runs;
  if (!has_choice(c.extra_runs)) c.schedule_seed = 0;
}

std::string illegality(const Case& c) {
  const Schema& schema = *c.schema;
  if (c.size_class >= size_class_count) return fmt::format("size class {}", c.size_class);
  if (c.dtype_combination >= schema.dtype_combinations.size()) {
    return fmt::format("dtype combination {}", c.dtype_combination);
  }
  if (c.axes.size() != schema.axes.size() || c.attributes.size() != schema.attributes.size() ||
      c.inputs.size() != schema.inputs.size() || c.outputs.size() != schema.outputs.size()) {
    return "axes, attributes or tensors are not those of the schema";
  }
  for (size_t i = 0; i < c.attributes.size(); ++i) {
    const std::string problem = attribute_problem(schema.attributes[i], c.attributes[i]);
    if (!problem.empty()) return fmt::format("{}: {}", schema.attributes[i].name, problem);
  }
  Extents extents(schema, c.axes, c.attributes);
  extents.follow();
  for (size_t i = 0; i < c.axes.size(); ++i) {
    if (c.axes[i] == extents.axes()[i]) continue;
    return fmt::format("{}: found {}, expected {}", schema.axes[i].name, c.axes[i],
                       extents.axes()[i]);
  }
  if (const auto i = extents.axis_out_of_range()) {
    const Axis& axis = schema.axes[*i];
    return fmt::format("{}: found {}, expected {} to {}", axis.name, c.axes[*i], axis.minimum,
                       axis.maximum);
  }
  if (const auto i = extents.broken_constraint()) {
    return fmt::format("constraint {} does not hold", schema.constraints[*i].text());
  }
  if (extents.work() > work_limits[c.size_class]) {
    return fmt::format("found work {}, expected at most {}", extents.work(),
                       work_limits[c.size_class]);
  }
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const std::string problem = tensor_problem(c, schema.inputs[i], c.inputs[i], true);
    if (!problem.empty()) return fmt::format("{}: {}", schema.inputs[i].name, problem);
  }
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    const std::string problem = tensor_problem(c, schema.outputs[i], c.outputs[i], false);
    if (!problem.empty()) return fmt::format("{}: {}", schema.outputs[i].name, problem);
  }
  if ((c.extra_runs & ~all_extra_runs) != 0) return fmt::format("extra runs {}", c.extra_runs);
  if (c.schedule_seed != 0 && !has_choice(c.extra_runs)) {
    return "a schedule seed without a run that has a choice";
  }
  return {};
}

Tier tier(const Case& c) {
  const Schema& schema = *c.schema;
  Tier result = std::max(schema.dtype_combinations[c.dtype_combination].tier,
                         Extents(schema, c.axes, c.attributes).tier());
  for (size_t i = 0; i < c.attributes.size(); ++i) {
    const bool real = schema.attributes[i].kind == AttributeKind::real;
    const AttributeValue& value = c.attributes[i];
    if (!schema.attributes[i].is_usual(real ? value.real : static_cast<double>(value.integer))) {
      result = std::max(result, Tier::unusual);
    }
  }
  for (const auto* tensors : {&c.inputs, &c.outputs}) {
    if (std::any_of(tensors->begin(), tensors->end(), has_views)) result = Tier::exotic;
  }
  return result;
}

std::string describe(const Case& c) {
  const Schema& schema = *c.schema;
  std::string text = schema.name;
  const std::vector<DType>& dtypes = schema.dtype_combinations[c.dtype_combination].dtypes;
  const bool same =
      std::all_of(dtypes.begin(), dtypes.end(), [&](DType dtype) { return dtype == dtypes[0]; });
  for (size_t i = 0; i < (same ? 1 : dtypes.size()); ++i) {
    text += same ? fmt::format(" {}", name(dtypes[i]))
                 : fmt::format(" {}={}", schema.dtype_variables[i], name(dtypes[i]));
  }
  for (size_t i = 0; i < c.axes.size(); ++i) {
    text += fmt::format(" {}={}", schema.axes[i].name, c.axes[i]);
  }
  for (size_t i = 0; i < c.attributes.size(); ++i) {
    text += fmt::format(" {}={}", schema.attributes[i].name,
                        attribute_text(schema.attributes[i], c.attributes[i]));
  }
  for (size_t i = 0; i < c.inputs.size(); ++i) describe_tensor(c, i, true, text);
  for (size_t i = 0; i < c.outputs.size(); ++i) describe_tensor(c, i, false, text);
  if (asks_for(c.extra_runs, ExtraRun::other_poison)) text += ", other poison";
  if (asks_for(c.extra_runs, ExtraRun::other_schedule)) {
    text += fmt::format(", other schedule {}", c.schedule_seed);
  }
  if (asks_for(c.extra_runs, ExtraRun::changed_element)) {
    text += fmt::format(", one element changed (choice {})", c.schedule_seed);
  }
  if (asks_for(c.extra_runs, ExtraRun::lone_row)) {
    text += fmt::format(", one row alone (choice {})", c.schedule_seed);
  }
  if (asks_for(c.extra_runs, ExtraRun::race_check)) {
    text += ", race check";
    if (c.schedule_seed != 0) text += fmt::format(" in schedule {}", c.schedule_seed);
  }
  return text;
}

}  // namespace warpfuzz
