// What to try next: libFuzzer says which element of its corpus it would have mutated, and this
// makes a case of it, or of one that reached rare code of the kernel, or of nothing.
#pragma once

#include <memory>
#include <vector>

#include "fuzzers/frontier.h"
#include "schemas/mutation.h"

namespace warpfuzz {

class Proposals {
 public:
  // `constants` of the kernel's source; see schemas/mutation.h.
  Proposals(std::shared_ptr<const Schema> schema, const CaseLimits& limits,
            std::vector<int64_t> constants)
      : schema_(std::move(schema)), limits_(limits), constants_(std::move(constants)) {}

  // A run's coverage counters (RunResult::coverage).
  void record(const Case& c, std::span<const uint8_t> counters) { frontier_.record(c, counters); }

  Case fresh(Random& random) const { return random_case(schema_, random, limits_, constants_); }
  Case variant(const Case& base, Random& random) const;
  Case child(const Case& a, const Case& b, Random& random) const;

 private:
  std::shared_ptr<const Schema> schema_;
  CaseLimits limits_;
  std::vector<int64_t> constants_;
  Frontier frontier_;
};

}  // namespace warpfuzz
