// The controlled experiments behind the probes: the same call with one thing changed, so that
// whether a violation vanishes, or appears, says what causes it.
#pragma once

#include <optional>
#include <vector>

#include "gates/gate.h"
#include "schemas/case.h"

namespace warpfuzz {

// Nothing if the operator has no such variant of this case. The result may lie outside the schema's
// allowed laws, never outside its axis ranges and constraints.
std::optional<Case> control_case(const Case& c, Probe probe);
// Floating-point values rounded to 7 significant bits, which every format of at least 16 bits
// holds.
std::vector<Tensor> rounded(std::vector<Tensor> inputs);

// The inputs of `control` made of the values of `inputs`, each axis repeated or cut: the same data
// on another shape. Index tensors, and what has no element to repeat, stay as they are in `made`.
std::vector<Tensor> tiled(const Case& control, const std::vector<Tensor>& inputs,
                          std::vector<Tensor> made);

// The inputs with one element of one floating-point or index input changed to another legal value,
// which `choice` picks; nothing if there is none to change.
std::optional<std::vector<Tensor>> with_changed_element(const Case& c, std::vector<Tensor> inputs,
                                                        uint32_t choice);

// One position of the batch axes alone.
struct LoneRow {
  Case c;
  std::vector<Tensor> inputs;
  // Per output: where its elements lie in the whole call's; empty if the output has no batch axis.
  std::vector<std::vector<size_t>> elements;
};
// Nothing if the call has but one row, or none, or the operator does not allow a single one.
std::optional<LoneRow> lone_row(const Case& c, const std::vector<Tensor>& inputs, uint32_t choice);

}  // namespace warpfuzz
