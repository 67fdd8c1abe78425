#include "kernels/simt/call_arguments.h"

#include <algorithm>

#include "schemas/schema.h"

namespace warpfuzz::simt {

namespace {

// Codes of DLPack 1.1 that warpfuzz_kernel.h does not list.
constexpr uint8_t dl_float8_e4m3fn = 10;
constexpr uint8_t dl_float8_e5m2 = 12;

DLDataType data_type(DType dtype) {
  const auto bits = static_cast<uint8_t>(info(dtype).bytes * 8);
  switch (dtype) {
    case DType::float32:
    case DType::float16:
    case DType::float64:
      return {kDLFloat, bits, 1};
    case DType::bfloat16:
      return {kDLBfloat, bits, 1};
    case DType::float8_e4m3fn:
      return {dl_float8_e4m3fn, bits, 1};
    case DType::float8_e5m2:
      return {dl_float8_e5m2, bits, 1};
    case DType::int64:
    case DType::int32:
    case DType::int8:
      return {kDLInt, bits, 1};
    case DType::uint8:
      return {kDLUInt, bits, 1};
    case DType::boolean:
      return {kDLBool, bits, 1};
  }
  return {kDLUInt, bits, 1};
}

// The C interface has no const for shapes.
int64_t* extents(const std::vector<int64_t>& values) { return const_cast<int64_t*>(values.data()); }

DLTensor tensor(void* data, DType dtype, const std::vector<int64_t>& shape,
                const std::vector<int64_t>& strides) {
  return {data,
          {kDLCPU, 0},
          static_cast<int32_t>(shape.size()),
          data_type(dtype),
          extents(shape),
          extents(strides),
          0};
}

std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;) {
    strides[axis - 1] = strides[axis] * std::max<int64_t>(shape[axis], 1);
  }
  return strides;
}

}  // namespace

void CallArguments::add_attributes(const Case& c) {
  attributes_.clear();
  for (size_t i = 0; i < c.schema->attributes.size(); ++i) {
    const Attribute& attribute = c.schema->attributes[i];
    const bool real = attribute.kind == AttributeKind::real;
    attributes_.push_back(
        {attribute.name.c_str(), real ? 1 : 0, c.attributes[i].integer,
         real ? c.attributes[i].real : static_cast<double>(c.attributes[i].integer)});
  }
}

const WfCall& CallArguments::finish() {
  call_.abi_version = WF_ABI_VERSION;
  call_.num_inputs = static_cast<int32_t>(inputs_.size());
  call_.num_outputs = static_cast<int32_t>(outputs_.size());
  call_.num_attributes = static_cast<int32_t>(attributes_.size());
  call_.inputs = inputs_.data();
  call_.outputs = outputs_.data();
  call_.attributes = attributes_.data();
  return call_;
}

const WfCall& CallArguments::build(const Case& c, MemoryImage& image) {
  const Schema& schema = *c.schema;
  inputs_.resize(schema.inputs.size());
  outputs_.resize(schema.outputs.size());
  call_ = {};
  std::byte* const block = image.bytes().data();
  for (const Region& region : image.regions()) {
    std::byte* const data = block + region.first_element;
    switch (region.kind) {
      case RegionKind::guard:
        break;
      case RegionKind::input:
        inputs_[region.tensor] =
            tensor(data, c.dtype(schema.inputs[region.tensor]), region.shape, region.strides);
        break;
      case RegionKind::output:
        outputs_[region.tensor] =
            tensor(data, c.dtype(schema.outputs[region.tensor]), region.shape, region.strides);
        break;
      case RegionKind::workspace:
        call_.workspace = data;
        call_.workspace_bytes = region.end - region.begin;
        break;
    }
  }
  add_attributes(c);
  return finish();
}

const WfCall& CallArguments::build(const Case& c) {
  const Schema& schema = *c.schema;
  inputs_.clear();
  outputs_.clear();
  extents_.clear();
  extents_.reserve(2 * (schema.inputs.size() + schema.outputs.size()));
  call_ = {};
  auto add = [&](std::vector<DLTensor>& tensors, const TensorSpec& spec) {
    extents_.push_back(c.shape(spec));
    const std::vector<int64_t>& shape = extents_.back();
    extents_.push_back(contiguous_strides(shape));
    tensors.push_back(tensor(nullptr, c.dtype(spec), shape, extents_.back()));
  };
  for (const TensorSpec& spec : schema.inputs) add(inputs_, spec);
  for (const TensorSpec& spec : schema.outputs) add(outputs_, spec);
  add_attributes(c);
  return finish();
}

}  // namespace warpfuzz::simt
