// What went wrong in one coarse word: the last part of a signature. signature.h says why so coarse.
#pragma once

#include <cstdint>
#include <string_view>

#include "gates/gate.h"

namespace warpfuzz {

enum class Symptom : uint8_t {
  none,             // the gate says all: MEM-01, ORD-02 ...
  value,            // wrong, all of it finite or rightly not
  non_finite_lost,  // NaN or infinity missing or swapped where nothing else may be
  non_finite_made,  // NaN or infinity where it may not be
  bounds,           // an access outside the tensors
  misaligned,
  undefined,  // overflow, shift, division, array index
  barrier,
  hang,
  error,  // a launch or runtime call failed
};
std::string_view name(Symptom symptom);

// Of a violation that this gate found.
Symptom symptom_of(std::string_view gate, const GateResult& result);

}  // namespace warpfuzz
