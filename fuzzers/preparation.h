// What is made of a case before its turn, by threads other than the one that judges it. Its memory
// serves case after case.
#pragma once

#include <optional>
#include <vector>

#include "gates/gate.h"
#include "reference/oracle.h"
#include "schemas/case.h"
#include "schemas/tensor.h"

namespace warpfuzz {

struct Preparation {
  Case c;
  std::vector<Tensor> inputs;
  Oracle oracle;  // has evaluated the call, at its usual level
  // The call itself, run but not compared; none where the trial has to run it.
  std::optional<Observation> primary;
  double values_seconds = 0;
  double oracle_seconds = 0;
  double kernel_seconds = 0;
};

}  // namespace warpfuzz
