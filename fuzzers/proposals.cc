#include "fuzzers/proposals.h"

#include "schemas/random_choice.h"

namespace warpfuzz {
namespace {

constexpr uint64_t fresh_period = 4;  // one variant in so many is made of nothing
constexpr uint64_t frontier_period =
    2;  // one of the others of a case in rare code, if there is one
// libFuzzer asks for a child as often as for a variant, which is too often: one call in so many.
constexpr uint64_t crossover_period = 2;

}  // namespace

Case Proposals::variant(const Case& base, Random& random) const {
  if (one_in(random, fresh_period)) return fresh(random);
  const Case* rare = one_in(random, frontier_period) ? frontier_.pick_rare(random) : nullptr;
  Case c = rare != nullptr ? *rare : base;
  mutate(c, random, limits_, constants_);
  return c;
}

Case Proposals::child(const Case& a, const Case& b, Random& random) const {
  return one_in(random, crossover_period) ? crossover(a, b, random, limits_) : variant(a, random);
}

}  // namespace warpfuzz
