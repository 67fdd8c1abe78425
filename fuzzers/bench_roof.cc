// How many operations per second a device could do at most, as far as its attributes tell: only for
// products, where the work formula counts what the units for multiplying and adding do.
#include <fmt/format.h>

#include <algorithm>

#include "fuzzers/bench.h"
#include "gates/checks.h"

namespace warpfuzz {
namespace {

// Operations of one multiprocessor in one clock, a fused multiply-add counting as two. Dense
// products; tensor cores from the vendor's peak rates (A100 and H100 whitepapers). Devices that are
// not here, and formats, have no roof: nothing is guessed.
struct UnitRate {
  int major, minor;  // compute capability
  DType operand;
  int per_clock;
  const char* unit;
};
constexpr UnitRate unit_rates[] = {
    {8, 0, DType::float32, 128, "float32 units"},  {8, 0, DType::float16, 2048, "tensor cores"},
    {8, 0, DType::bfloat16, 2048, "tensor cores"}, {8, 0, DType::int8, 4096, "tensor cores"},
    {9, 0, DType::float32, 256, "float32 units"},  {9, 0, DType::float16, 4096, "tensor cores"},
    {9, 0, DType::bfloat16, 4096, "tensor cores"}, {9, 0, DType::int8, 8192, "tensor cores"},
};

}  // namespace

Operations operations_of(const Case& c, const cuda::Session& session) {
  Operations operations;
  operations.count = c.schema->work->evaluate(c.expression_values());
  if (!has_tag(*c.schema, "gemm")) {
    operations.roof_of = "no product";
    return operations;
  }
  const int major = session.attribute(cuda::attribute_capability_major);
  const int minor = session.attribute(cuda::attribute_capability_minor);
  const DType operand = c.dtype(c.schema->inputs.front());
  const auto* const rate =
      std::find_if(std::begin(unit_rates), std::end(unit_rates), [&](const UnitRate& r) {
        return r.major == major && r.minor == minor && r.operand == operand;
      });
  const int kilohertz = session.attribute(cuda::attribute_clock_kilohertz);
  const int multiprocessors = session.attribute(cuda::attribute_multiprocessors);
  if (rate == std::end(unit_rates) || kilohertz <= 0 || multiprocessors <= 0) {
    operations.roof_of =
        fmt::format("not measured: no rate known for {} on sm_{}{}", name(operand), major, minor);
    return operations;
  }
  operations.roof = 1e3 * kilohertz * multiprocessors * rate->per_clock;
  operations.roof_of = fmt::format("{}, {} at the highest clock, {} MHz", name(operand), rate->unit,
                                   kilohertz / 1000);
  return operations;
}

}  // namespace warpfuzz
