// ORD-03: the elements of a scan are the sums of their own prefixes, each within the tolerance of a
// prefix of that length: no carry lost between tiles, nothing added twice.
#include "gates/checks.h"

namespace warpfuzz {

GateResult check_scan(const Judgement& judgement) {
  if (!has_tag(*judgement.c.schema, "scan")) return not_applicable("the operator is no scan");
  if (!judgement.primary().values_differ()) return pass();
  return value_violation(judgement, "an element is not the sum of its prefix");
}

}  // namespace warpfuzz
