// The edge of what the runs have reached in the kernel: for each of its coverage counters, a case
// that set it. libFuzzer's corpus has an element for every kind of feature, hundreds of them; the
// few that got into code where few cases come are worth more mutations than their share of those.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "schemas/mutation.h"

namespace warpfuzz {

class Frontier {
 public:
  // What a run of the case has set: a byte per counter, or nothing.
  void record(const Case& c, std::span<const uint8_t> counters);

  // A case that set a counter which at most one run in `rare` has set, the rarer the likelier.
  // None if there is no such counter. Valid until the next record().
  const Case* pick_rare(Random& random) const;

  static constexpr uint64_t rare = 16;

 private:
  struct Counter {
    uint64_t hits = 0;
    std::shared_ptr<const Case> example;  // the first, or any that hit it while it was rare
  };
  std::vector<Counter> counters_;
  uint64_t runs_ = 0;
  Random random_{1};
};

}  // namespace warpfuzz
