#include "crashes/stored_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace warpfuzz {
namespace {

[[noreturn]] void refuse(const Schema& schema, const std::string& why) {
  throw ReproducerError(
      fmt::format("schema {} does not fit the stored call: {}", schema.name, why));
}

// The stored entry for each of the schema's, in the schema's order; both must have the same names.
template <typename Entry, typename Spec>
std::vector<const Entry*> match(const Schema& schema, const std::vector<Entry>& stored,
                                const std::vector<Spec>& specs, std::string_view what) {
  std::vector<const Entry*> matched;
  for (const Spec& spec : specs) {
    const auto entry = std::ranges::find(stored, spec.name, &Entry::name);
    if (entry == stored.end()) {
      refuse(schema, fmt::format("it has {} \"{}\", the call has not", what, spec.name));
    }
    matched.push_back(&*entry);
  }
  for (const Entry& entry : stored) {
    if (std::ranges::find(specs, entry.name, &Spec::name) == specs.end()) {
      refuse(schema, fmt::format("the call has {} \"{}\", it has not", what, entry.name));
    }
  }
  return matched;
}

size_t find_combination(const Schema& schema, const StoredCall& call) {
  std::vector<DType> wanted;
  for (const std::string& variable : schema.dtype_variables) {
    const auto entry = std::ranges::find(call.dtypes, variable, &StoredCall::DTypeVariable::name);
    if (entry == call.dtypes.end()) {
      refuse(schema, fmt::format("it has dtype variable \"{}\", the call has not", variable));
    }
    wanted.push_back(entry->dtype);
  }
  const auto found =
      std::ranges::find(schema.dtype_combinations, wanted, &DTypeCombination::dtypes);
  if (found == schema.dtype_combinations.end()) {
    std::string text;
    for (DType dtype : wanted) text += fmt::format("{}{}", text.empty() ? "" : ", ", name(dtype));
    refuse(schema, fmt::format("it does not allow the dtypes ({})", text));
  }
  return static_cast<size_t>(found - schema.dtype_combinations.begin());
}

AttributeValue restore_attribute(const Schema& schema, const Attribute& attribute,
                                 const StoredCall::Attribute& stored) {
  AttributeValue value = stored.value;
  if (attribute.kind != AttributeKind::choice) return value;
  const auto choice = std::ranges::find(attribute.choices, stored.choice);
  if (choice == attribute.choices.end()) {
    refuse(schema,
           fmt::format("attribute \"{}\" has no choice \"{}\"", stored.name, stored.choice));
  }
  value.integer = choice - attribute.choices.begin();
  return value;
}

std::vector<StoredCall::Tensor> store_tensors(const std::vector<TensorSpec>& specs,
                                              const std::vector<TensorCase>& tensors) {
  std::vector<StoredCall::Tensor> stored;
  for (size_t i = 0; i < specs.size(); ++i) stored.push_back({specs[i].name, tensors[i]});
  return stored;
}

}  // namespace

StoredCall store_call(const Case& c) {
  const Schema& schema = *c.schema;
  StoredCall call;
  call.size_class = c.size_class;
  call.extra_runs = c.extra_runs;
  call.schedule_seed = c.schedule_seed;
  for (size_t i = 0; i < schema.dtype_variables.size(); ++i) {
    call.dtypes.push_back(
        {schema.dtype_variables[i], schema.dtype_combinations[c.dtype_combination].dtypes[i]});
  }
  for (size_t i = 0; i < schema.axes.size(); ++i) {
    call.axes.push_back({schema.axes[i].name, c.axes[i]});
  }
  for (size_t i = 0; i < schema.attributes.size(); ++i) {
    const Attribute& attribute = schema.attributes[i];
    const AttributeValue& value = c.attributes[i];
    const bool is_choice = attribute.kind == AttributeKind::choice;
    call.attributes.push_back(
        {attribute.name, value,
         is_choice ? attribute.choices[static_cast<size_t>(value.integer)] : std::string()});
  }
  call.inputs = store_tensors(schema.inputs, c.inputs);
  call.outputs = store_tensors(schema.outputs, c.outputs);
  return call;
}

Case restore_call(const StoredCall& call, const std::shared_ptr<const Schema>& schema) {
  Case c;
  c.schema = schema;
  c.size_class = call.size_class;
  c.dtype_combination = find_combination(*schema, call);
  c.extra_runs = call.extra_runs;
  c.schedule_seed = call.schedule_seed;
  for (const auto* axis : match(*schema, call.axes, schema->axes, "axis")) {
    c.axes.push_back(axis->extent);
  }
  const auto attributes = match(*schema, call.attributes, schema->attributes, "attribute");
  for (size_t i = 0; i < attributes.size(); ++i) {
    c.attributes.push_back(restore_attribute(*schema, schema->attributes[i], *attributes[i]));
  }
  for (const auto* input : match(*schema, call.inputs, schema->inputs, "input")) {
    c.inputs.push_back(input->tensor);
  }
  for (const auto* output : match(*schema, call.outputs, schema->outputs, "output")) {
    c.outputs.push_back(output->tensor);
  }
  const std::string problem = illegality(c);
  if (!problem.empty()) refuse(*schema, problem);
  return c;
}

}  // namespace warpfuzz
