#include "fuzzers/frontier.h"

#include "schemas/random_choice.h"

namespace warpfuzz {

void Frontier::record(const Case& c, std::span<const uint8_t> counters) {
  if (counters.empty()) return;
  ++runs_;
  counters_.resize(std::max(counters_.size(), counters.size()));
  std::shared_ptr<const Case> example;  // one copy for all counters
  for (size_t i = 0; i < counters.size(); ++i) {
    if (counters[i] == 0) continue;
    Counter& counter = counters_[i];
    ++counter.hits;
    if (counter.hits > 1 && counter.hits > runs_ / rare) continue;  // no example is wanted
    if (!one_in(random_, counter.hits)) continue;
    if (!example) example = std::make_shared<const Case>(c);
    counter.example = example;
  }
}

const Case* Frontier::pick_rare(Random& random) const {
  // Chances are inverse to hits: in units of the rarest that may count.
  const uint64_t most_hits = runs_ / rare;
  uint64_t total = 0;
  const auto weight = [&](const Counter& counter) {
    return counter.hits == 0 ? 0 : most_hits / counter.hits;  // 0 for what is not rare
  };
  for (const Counter& counter : counters_) total += weight(counter);
  if (total == 0) return nullptr;
  uint64_t ticket = below(random, total);
  for (const Counter& counter : counters_) {
    if (ticket < weight(counter)) return counter.example.get();
    ticket -= weight(counter);
  }
  return nullptr;
}

}  // namespace warpfuzz
