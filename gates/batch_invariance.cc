// INV-01: where the operator declares it, a row computed alone has the bits that it has inside the
// batch. No tolerance.
#include <fmt/format.h>

#include <cstring>

#include "gates/checks.h"

namespace warpfuzz {

GateResult check_batch_invariance(const Judgement& judgement) {
  if (!judgement.c.schema->contract.batch_invariant) {
    return not_applicable("the operator does not promise batch invariance");
  }
  const Observation& primary = judgement.primary();
  const Observation* alone = judgement.find(Probe::lone_row);
  if (!comparable(primary, alone)) return not_applicable("no row was computed alone");
  // A wrong value is another gate's matter.
  if (primary.values_differ() || alone->values_differ()) return pass();
  for (size_t output = 0; output < primary.outputs.size(); ++output) {
    const Tensor& whole = primary.outputs[output];
    const size_t bytes = info(whole.dtype).bytes;
    std::vector<size_t> elements;
    const std::vector<size_t>& row = judgement.lone_row_elements[output];
    for (size_t i = 0; i < row.size(); ++i) {
      if (std::memcmp(whole.data.data() + row[i] * bytes,
                      alone->outputs[output].data.data() + i * bytes, bytes) != 0) {
        elements.push_back(row[i]);
      }
    }
    if (elements.empty()) continue;
    GateResult result = violation(
        fmt::format("{} of {} elements of a row of output {} have other bits when the row is "
                    "computed alone",
                    elements.size(), row.size(), judgement.c.schema->outputs[output].name));
    result.output = output;
    result.elements = std::move(elements);
    return result;
  }
  return pass();
}

}  // namespace warpfuzz
