#include "crashes/minimizer.h"

#include <array>
#include <set>
#include <vector>

#include "schemas/mutation.h"

namespace warpfuzz {
namespace {

constexpr std::array<std::string_view, 4> stop_names = {"minimal", "trial limit", "deadline",
                                                        "does not fail"};

class Search {
 public:
  Search(const std::function<bool(const Case&)>& still_fails, const MinimizeLimits& limits)
      : still_fails_(still_fails), limits_(limits) {}

  // Whether a limit forbids the next trial; `stop` then says which.
  bool exhausted(MinimizeStop& stop) const {
    if (trials_ >= limits_.max_trials) {
      stop = MinimizeStop::trial_limit;
      return true;
    }
    if (limits_.deadline && std::chrono::steady_clock::now() >= *limits_.deadline) {
      stop = MinimizeStop::deadline;
      return true;
    }
    return false;
  }
  // False for the second and later sights of a case: after each accepted step the list of
  // simplifications starts anew and repeats many that have passed already.
  bool is_new(const Case& c) { return seen_.insert(encode(c)).second; }
  bool fails(const Case& c) {
    ++trials_;
    return still_fails_(c);
  }
  uint64_t trials() const { return trials_; }

 private:
  const std::function<bool(const Case&)>& still_fails_;
  const MinimizeLimits& limits_;
  std::set<std::vector<uint8_t>> seen_;
  uint64_t trials_ = 0;
};

// Replaces `c` by its first simplification that fails. False if there is none, or a limit stops.
bool descend(Case& c, Search& search, MinimizeStop& stop) {
  for (Case& variant : simplifications(c)) {
    if (!search.is_new(variant)) continue;
    if (search.exhausted(stop)) return false;
    if (search.fails(variant)) {
      c = std::move(variant);
      return true;
    }
  }
  return false;
}

}  // namespace

std::string_view name(MinimizeStop stop) { return stop_names[static_cast<size_t>(stop)]; }

MinimizeResult minimize(const Case& start, const std::function<bool(const Case&)>& still_fails,
                        const MinimizeLimits& limits) {
  MinimizeResult result{.smallest = start};
  Search search(still_fails, limits);
  search.is_new(start);
  if (!search.exhausted(result.stop)) {
    if (search.fails(start)) {
      while (descend(result.smallest, search, result.stop)) ++result.steps;
    } else {
      result.stop = MinimizeStop::does_not_fail;
    }
  }
  result.trials = search.trials();
  return result;
}

}  // namespace warpfuzz
