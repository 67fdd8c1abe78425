#include "schemas/call_names.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpfuzz {
namespace {

constexpr int64_t grid_bytes = 256;  // every tensor without an offset starts on this grid

int64_t alignment(const TensorCase& tensor, DType dtype) {
  const int64_t bytes = tensor.offset * info(dtype).bytes;
  return bytes == 0 ? grid_bytes : std::min<int64_t>(grid_bytes, bytes & -bytes);
}

bool is_integer(const Attribute& attribute) { return attribute.kind != AttributeKind::real; }

}  // namespace

std::vector<int64_t> layout_strides(const std::vector<int64_t>& shape, const TensorCase& tensor) {
  const size_t rank = shape.size();
  std::vector<int64_t> strides(rank, 1);
  std::vector<size_t> order(rank);  // from the slowest to the fastest axis
  for (size_t i = 0; i < rank; ++i) order[i] = i;
  if (tensor.layout == Layout::transposed && rank >= 2) std::swap(order[rank - 1], order[rank - 2]);
  int64_t stride = 1;
  for (size_t i = rank; i-- > 0;) {
    strides[order[i]] = stride;
    stride *= std::max<int64_t>(shape[order[i]], 1);
    if (i == rank - 1 && tensor.layout == Layout::row_strided) stride += tensor.row_padding;
  }
  if (tensor.layout == Layout::broadcast && rank > 0) strides[0] = 0;
  return strides;
}

std::vector<std::string> call_names(const Schema& schema) {
  std::vector<std::string> names;
  for (const Axis& axis : schema.axes) names.push_back(axis.name);
  for (const Attribute& attribute : schema.attributes) {
    if (is_integer(attribute)) names.push_back(attribute.name);
  }
  names.insert(names.end(), schema.dtype_variables.begin(), schema.dtype_variables.end());
  for (const DTypeInfo& dtype : dtypes()) names.emplace_back(dtype.name);
  for (const auto* tensors : {&schema.inputs, &schema.outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      names.push_back(tensor.name + "_contiguous");
      names.push_back(tensor.name + "_alignment");
      for (size_t i = 0; i < tensor.axes.size(); ++i) {
        names.push_back(fmt::format("{}_stride_{}", tensor.name, i));
      }
    }
  }
  return names;
}

void call_values(const Case& c, std::vector<int64_t>& values) {
  const Schema& schema = *c.schema;
  values.assign(c.axes.begin(), c.axes.end());
  for (size_t i = 0; i < schema.attributes.size(); ++i) {
    if (is_integer(schema.attributes[i])) values.push_back(c.attributes[i].integer);
  }
  for (DType dtype : schema.dtype_combinations[c.dtype_combination].dtypes) {
    values.push_back(static_cast<int64_t>(dtype));
  }
  for (const DTypeInfo& dtype : dtypes()) values.push_back(static_cast<int64_t>(dtype.dtype));
  const auto add = [&](const std::vector<TensorSpec>& specs,
                       const std::vector<TensorCase>& tensors) {
    for (size_t i = 0; i < specs.size(); ++i) {
      values.push_back(tensors[i].layout == Layout::contiguous);
      values.push_back(alignment(tensors[i], c.dtype(specs[i])));
      for (int64_t stride : layout_strides(c.shape(specs[i]), tensors[i])) values.push_back(stride);
    }
  };
  add(schema.inputs, c.inputs);
  add(schema.outputs, c.outputs);
}

}  // namespace warpfuzz
