#include "reference/product_rule.h"

#include "reference/number_format.h"
#include "reference/tracked.h"

namespace warpfuzz {

std::optional<ProductRule> product_rule(const Contract& contract, DType operands, DType output,
                                        int64_t addends, const Magnitudes& a, const Magnitudes& b) {
  const Precision precision = precision_of(contract);
  if (precision.flush && a.smallest < precision.normal) return std::nullopt;
  const auto count = static_cast<double>(addends);
  return ProductRule{
      precision,
      ProductTolerance(precision, count, info(operands).bytes <= 2, first_look_lambda, 0, a, b),
      traits(output), OutputRounding(traits(output), contract.output_roundings), first_look_lambda,
      operands == DType::float16 ? traits(operands).smallest_normal : 0,
      // Sums differ by (n + 2) 2^-53 of their magnitudes M. Relative to r that may be 2^-53 n^2
      // where r^2 outweighs Q in the variance, since M <= sqrt(n Q).
      few_roundings + (count + 2) * (count + 2) * 0x1p-52};
}

}  // namespace warpfuzz
