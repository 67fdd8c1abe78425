// The controlled experiments behind the probes few_bits, tame_shape, coarse_values and
// lattice_values: the same call with one thing changed, so that whether a violation vanishes says
// what causes it.
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

}  // namespace warpfuzz
