#include "schemas/axis_rules.h"
#include "schemas/check.h"
#include "schemas/mutation.h"
#include "schemas/random_choice.h"

namespace warpfuzz {

Case crossover(const Case& a, const Case& b, Random& random, const CaseLimits& limits) {
  WARPFUZZ_CHECK(a.schema == b.schema, "{} and {}", a.schema->name, b.schema->name);
  Case c = a;
  const auto from_b = [&] { return one_in(random, 4); };
  if (from_b()) c.size_class = b.size_class;
  if (from_b()) c.dtype_combination = b.dtype_combination;
  size_t favoured = no_axis;
  for (size_t i = 0; i < c.axes.size(); ++i) {
    if (!from_b()) continue;
    c.axes[i] = b.axes[i];
    favoured = i;
  }
  for (size_t i = 0; i < c.attributes.size(); ++i) {
    if (from_b()) c.attributes[i] = b.attributes[i];
  }
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (from_b()) c.inputs[i] = b.inputs[i];
  }
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    if (from_b()) c.outputs[i] = b.outputs[i];
  }
  if (from_b()) {
    c.extra_runs = b.extra_runs;
    c.schedule_seed = b.schedule_seed;
  }
  legalize(c, limits, favoured);
  return c;
}

}  // namespace warpfuzz
