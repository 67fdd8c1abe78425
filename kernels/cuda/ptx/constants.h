// Immediate operands of PTX: integers, and those of comparisons as the bits of the type compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/cuda/ptx/coverage_map.h"
#include "kernels/cuda/ptx/module.h"

namespace warpfuzz::ptx {

// An integer without sign, as PTX writes it: decimal, 0x, 0b or octal, with U or not.
std::optional<uint64_t> parse_integer(std::string_view word);

// The constants among the operands of a setp or set; nothing for other instructions.
std::vector<Constant> comparison_constants(const Statement& statement);

}  // namespace warpfuzz::ptx
