// Immediate operands of PTX comparisons, as the bits of the type compared.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kernels/cuda/ptx/coverage_map.h"
#include "kernels/cuda/ptx/module.h"

namespace warpfuzz::ptx {

// The constants among the operands of a setp or set; nothing for other instructions.
std::vector<Constant> comparison_constants(const Statement& statement);

}  // namespace warpfuzz::ptx
