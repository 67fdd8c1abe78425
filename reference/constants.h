// Irrational and decimal constants of the references, as decimal strings of enough digits for every
// level of the oracle. A constant that kernels round to their own type carries that rounding.
#pragma once

#include <cstdint>

namespace warpfuzz {

enum class Constant : uint8_t {
  root_half,         // sqrt(1/2)
  root_two_over_pi,  // sqrt(2/pi)
  gelu_cubic,        // 0.044715
  one_hundredth,     // 0.01
};

struct ConstantInfo {
  double value;         // nearest double
  const char* decimal;  // 60 digits, or exact
};

inline const ConstantInfo& info(Constant constant) {
  static constexpr ConstantInfo table[] = {
      {0.70710678118654752440, "0.707106781186547524400844362104849039284835937688474036588339869"},
      {0.79788456080286535588, "0.797884560802865355879892119868763736951717262329869315331851659"},
      {0.044715, "0.044715"},
      {0.01, "0.01"},
  };
  return table[static_cast<uint8_t>(constant)];
}

}  // namespace warpfuzz
