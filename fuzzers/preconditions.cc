#include <array>

#include "fuzzers/trial.h"

namespace warpfuzz {
namespace {

constexpr int64_t grid_bytes = 256;  // every tensor without an offset starts on this grid

int64_t alignment(const TensorCase& tensor, DType dtype) {
  const int64_t bytes = tensor.offset * info(dtype).bytes;
  return bytes == 0 ? grid_bytes : std::min<int64_t>(grid_bytes, bytes & -bytes);
}

}  // namespace

Preconditions::Preconditions(const Schema& schema, const std::string& text) : text_(text) {
  if (text.empty()) return;
  std::vector<std::string> names = schema.expression_names();
  names.insert(names.end(), schema.dtype_variables.begin(), schema.dtype_variables.end());
  for (const DTypeInfo& dtype : dtypes()) names.emplace_back(dtype.name);
  for (const auto* tensors : {&schema.inputs, &schema.outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      names.push_back(tensor.name + "_contiguous");
      names.push_back(tensor.name + "_alignment");
    }
  }
  expression_ = Expression::parse(text, names);
}

bool Preconditions::admit(const Case& c) const {
  if (!expression_) return true;
  std::vector<int64_t> values = c.expression_values();
  for (DType dtype : c.schema->dtype_combinations[c.dtype_combination].dtypes) {
    values.push_back(static_cast<int64_t>(dtype));
  }
  for (const DTypeInfo& dtype : dtypes()) values.push_back(static_cast<int64_t>(dtype.dtype));
  const auto add = [&](const std::vector<TensorSpec>& specs,
                       const std::vector<TensorCase>& tensors) {
    for (size_t i = 0; i < specs.size(); ++i) {
      values.push_back(tensors[i].layout == Layout::contiguous);
      values.push_back(alignment(tensors[i], c.dtype(specs[i])));
    }
  };
  add(c.schema->inputs, c.inputs);
  add(c.schema->outputs, c.outputs);
  return expression_->evaluate(values) != 0;
}

}  // namespace warpfuzz
