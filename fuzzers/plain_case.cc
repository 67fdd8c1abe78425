#include "fuzzers/plain_case.h"

#include <algorithm>

namespace warpfuzz {

Case plain_case(const std::shared_ptr<const Schema>& schema, size_t dtype_combination) {
  Case c = decode(schema, {}, {});
  c.size_class = size_class_count - 1;
  c.dtype_combination = dtype_combination;
  for (size_t i = 0; i < c.attributes.size(); ++i) {
    const Attribute& attribute = schema->attributes[i];
    c.attributes[i] = {};
    if (attribute.kind == AttributeKind::real) {
      c.attributes[i].real = attribute.usual.front();
    } else {
      c.attributes[i].integer = static_cast<int64_t>(attribute.usual.front());
    }
  }
  for (TensorCase& output : c.outputs) output = {};
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    c.inputs[i] = {};
    const TensorSpec& spec = schema->inputs[i];
    if (!spec.allows(ValueLaw::normal)) c.inputs[i].law = spec.laws.front();
  }
  c.extra_runs = 0;
  c.schedule_seed = 0;
  return c;
}

bool constraints_hold(const Case& c) {
  const std::vector<int64_t> values = c.expression_values();
  return std::all_of(c.schema->constraints.begin(), c.schema->constraints.end(),
                     [&](const Expression& e) { return e.evaluate(values) != 0; });
}

}  // namespace warpfuzz
