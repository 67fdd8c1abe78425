#include "reference/audit.h"

#include <fmt/format.h>

#include <cmath>

namespace warpfuzz {
namespace {

constexpr size_t samples = 4;
constexpr double beneath_any_format = 1e-100;  // where double itself runs out of exponents

}  // namespace

std::string audit(const OutputExpectation& expected, size_t output, Refinement& refinement,
                  uint64_t choice) {
  const size_t size = expected.value.size();
  for (size_t k = 0; k < samples && size > 0; ++k) {
    const size_t i = (choice * 0x9E3779B97F4A7C15u + k * (size / samples + 1)) % size;
    if (expected.allowed[i] != class_finite || std::isinf(expected.tolerance[i])) continue;
    const double value = expected.value[i], bound = expected.oracle_error[i];
    const auto exact = refinement.value(2, output, i);
    if (!exact || std::fabs(value) < beneath_any_format) continue;
    const double error = std::fabs((value - exact->high) - exact->low);
    if (error <= bound) continue;
    return fmt::format("element {} of output {} is {:.17g}, not {:.17g} within {:.3g}", i, output,
                       exact->high, value, bound);
  }
  return {};
}

}  // namespace warpfuzz
