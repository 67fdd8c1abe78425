// Level 0 of a call: runs the rows of its reference and holds what they expect of each output. The
// oracle runs all rows; the second look runs the rows that are in doubt. Not thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "reference/arena.h"
#include "reference/call.h"
#include "reference/oracle.h"
#include "reference/sums.h"
#include "reference/tracked.h"

namespace warpfuzz {

struct Reference;

class Evaluation {
 public:
  // All elements 0 and exact. `careful`: the second look (tracked.h).
  void reset(const Reference& reference, const Call& call, double lambda = first_look_lambda,
             bool careful = false);
  bool empty() const { return outputs_.empty(); }
  void clear() { outputs_.clear(); }

  void all_rows();
  // `count` of them, at least one, the first and the last among them; all other elements are left
  // open.
  void some_rows(size_t count);
  // Leaves outputs of sums as they are.
  void one_row(size_t row);

  std::span<OutputExpectation> outputs() { return outputs_; }

 private:
  void rows(size_t begin, size_t end, Arena& arena) const;

  const Reference* reference_ = nullptr;
  const Call* call_ = nullptr;
  double lambda_ = first_look_lambda;
  bool careful_ = false;
  std::vector<OutputExpectation> outputs_;
  std::vector<Sums> sums_;
  std::vector<OutputTarget> targets_;
  Arena arena_;
};

}  // namespace warpfuzz
