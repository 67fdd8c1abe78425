// Observations made by hand for the tests of the gates: what a run of a tiny sum might have shown.
#pragma once

#include <cstring>
#include <initializer_list>
#include <memory>

#include "gates/gate.h"

namespace warpfuzz::testing_support {

inline std::shared_ptr<const Schema> make_schema() {
  auto schema = std::make_shared<Schema>();
  schema->name = "sum";
  Axis axis;
  axis.name = "n";
  axis.role = AxisRole::reduction;
  axis.maximum = 100;
  schema->axes = {axis};
  schema->dtype_variables = {"T"};
  schema->dtype_combinations = {{{DType::float32}, Tier::everyday}};
  TensorSpec tensor;
  tensor.name = "x";
  tensor.axes = {0};
  tensor.reduction_axis = 0;
  tensor.laws = {ValueLaw::normal};
  schema->inputs = {tensor};
  tensor.name = "y";
  schema->outputs = {tensor};
  return schema;
}

inline Tensor floats(std::initializer_list<float> values) {
  Tensor tensor;
  tensor.shape = {static_cast<int64_t>(values.size())};
  tensor.data.resize(values.size() * 4);
  std::memcpy(tensor.data.data(), std::data(values), tensor.data.size());
  return tensor;
}

inline Tensor poisoned(size_t elements, Poison poison) {
  Tensor tensor;
  tensor.shape = {static_cast<int64_t>(elements)};
  tensor.data.assign(elements * 4, static_cast<std::byte>(poison));
  return tensor;
}

inline Observation clean(Tensor output = floats({1, 2, 3})) {
  Observation observation;
  observation.outputs = {std::move(output)};
  observation.comparisons.resize(1);
  return observation;
}

inline Observation wrong(OffenceKind kind = OffenceKind::value, double observed = 5,
                         double expected = 2, uint8_t allowed = class_finite) {
  Observation observation = clean();
  Offence offence;
  offence.element = 1;
  offence.kind = kind;
  offence.observed = observed;
  offence.expected = expected;
  offence.allowed = allowed;
  observation.comparisons[0].offending = {1};
  observation.comparisons[0].offences = {offence};
  return observation;
}

inline Observation faulted(FaultKind kind) {
  Observation observation;
  Fault fault;
  fault.kind = kind;
  fault.message = "something happened";
  observation.run.status = RunStatus::fault;
  observation.run.faults = {fault};
  return observation;
}

inline Observation raced() {
  Observation observation = faulted(FaultKind::data_race);
  observation.run.faults[0].message = "read of shared variable total";
  observation.run.faults[0].earlier = {.kind = "write", .file = {}, .block = {}, .thread = {}};
  return observation;
}

inline Observation damaged(RegionKind kind) {
  Observation observation = clean();
  observation.damage = {{kind, "somewhere", 4, 2}};
  return observation;
}

inline Observation with_status(RunStatus status, uint32_t failed_launches) {
  Observation observation = clean();
  observation.run.status = status;
  observation.run.failed_launches = failed_launches;
  observation.run.message = "invalid configuration argument";
  return observation;
}

inline Observation refused(std::string message) {
  Observation observation = with_status(RunStatus::ok, 1);
  observation.run.message = std::move(message);
  return observation;
}

inline Observation launched(uint32_t launches, uint32_t operations = 0) {
  Observation observation = clean();
  observation.run.launches = launches;
  observation.run.device_operations = operations;
  return observation;
}

inline Observation uncounted() {
  Observation observation = launched(0);
  observation.run.launches_counted = false;
  return observation;
}

inline Observation left_running() {
  Observation observation = launched(1);
  observation.run.device_use.emplace().left_running = true;
  return observation;
}

inline Observation wrong_outputs(std::initializer_list<float> values) {
  Observation observation = wrong();
  observation.outputs = {floats(values)};
  return observation;
}

}  // namespace warpfuzz::testing_support
