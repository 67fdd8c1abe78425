// Numeric features of a case that libFuzzer cannot see in the kernel's edges: which dtypes met
// which laws, which shapes and residues, which exceptional values, and how close the error came to
// the tolerance. Each kind has its own range of 8-bit counters, so kinds never alias.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzzers/trial.h"

namespace warpfuzz {

inline constexpr size_t feature_counter_count = 4096;

// Sets the counters (cleared by libFuzzer before each run) for one finished trial.
void record_features(const Case& c, const TrialResult& result, std::span<uint8_t> counters);

}  // namespace warpfuzz
