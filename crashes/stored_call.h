// A Case spelled out by names instead of positions, so that a stored call outlives changes of its
// schema and of the byte codec: axes may be reordered, dtype combinations and choices inserted.
// Carries no values of tensors. Includes schemas/ only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "crashes/reproducer_error.h"
#include "schemas/case.h"

namespace warpfuzz {

struct StoredCall {
  struct Axis {
    std::string name;
    int64_t extent = 0;
    bool operator==(const Axis&) const = default;
  };
  struct DTypeVariable {
    std::string name;
    DType dtype = DType::float32;
    bool operator==(const DTypeVariable&) const = default;
  };
  struct Attribute {
    std::string name;
    AttributeValue value;
    std::string choice;  // of a choice attribute: its name, which counts instead of the position
    bool operator==(const Attribute&) const = default;
  };
  struct Tensor {
    std::string name;
    TensorCase tensor;
    bool operator==(const Tensor&) const = default;
  };

  uint8_t size_class = 0;
  uint8_t extra_runs = 0;
  uint32_t schedule_seed = 0;
  std::vector<DTypeVariable> dtypes;
  std::vector<Axis> axes;
  std::vector<Attribute> attributes;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  bool operator==(const StoredCall&) const = default;
};

StoredCall store_call(const Case& c);

// The same call under a schema that may have changed since. Throws ReproducerError when the schema
// lacks or gained an axis, tensor or attribute, or does not allow the call any more.
Case restore_call(const StoredCall& call, const std::shared_ptr<const Schema>& schema);

}  // namespace warpfuzz
