// Helpers of the tests of value laws. Includes seeds/ only.
#pragma once

#include <vector>

#include "seeds/value_law.h"

namespace warpfuzz {

inline constexpr DType float_types[] = {DType::float32, DType::float16,       DType::bfloat16,
                                        DType::float64, DType::float8_e4m3fn, DType::float8_e5m2};

// Elements that a law leaves out keep this value.
inline constexpr double unwritten = -12345;

inline std::vector<double> values_of(ValueLaw law, const LawArguments& arguments) {
  std::vector<double> values(
      static_cast<size_t>(arguments.outer * arguments.length * arguments.inner), unwritten);
  generate(law, arguments, values);
  return values;
}

// One lane of this length.
inline LawArguments row(uint64_t seed, int64_t length, DType dtype = DType::float32) {
  LawArguments arguments;
  arguments.seed = seed;
  arguments.dtype = dtype;
  arguments.length = length;
  return arguments;
}

}  // namespace warpfuzz
