// The structural minimiser: descends through the simplifications of a Case, in process, as long as
// the finding stays the same. Values come from laws and seeds, so simplifying the Case simplifies
// the tensors too. What "the same finding" means is the caller's (normally: same signature).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "schemas/case.h"

namespace warpfuzz {

struct MinimizeLimits {
  uint64_t max_trials = 10'000;
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
};

enum class MinimizeStop : uint8_t {
  minimal,  // no simplification fails any more
  trial_limit,
  deadline,
  does_not_fail,  // the start case itself passes: nothing to minimise, or the kernel is flaky
};
std::string_view name(MinimizeStop stop);

struct MinimizeResult {
  Case smallest;        // the start case if nothing simpler fails
  uint64_t trials = 0;  // calls of still_fails
  uint64_t steps = 0;   // accepted simplifications
  MinimizeStop stop = MinimizeStop::minimal;
};

// `still_fails` is called at most once per distinct case. The result is the last case for which it
// returned true.
MinimizeResult minimize(const Case& start, const std::function<bool(const Case&)>& still_fails,
                        const MinimizeLimits& limits = {});

}  // namespace warpfuzz
