// Whether a violation owes to the calls before it. On the CPU device every trial begins with a
// kernel that was never called; a CUDA shared object keeps what it remembers, and a call may be
// wrong because of another, and pass where somebody replays it.
#pragma once

#include <functional>
#include <optional>

#include "crashes/reproducer.h"
#include "crashes/signature.h"
#include "fuzzers/trial.h"
#include "fuzzers/worker.h"

namespace warpfuzz {

// The finding that takes the place of `result`, STA-01; nothing where `result` stands. Best is one
// that shows it in a process of its own, by a second call with one element changed; else that the
// call fails here time and again (`fails_here` tries) and never there.
std::optional<Reproducer> explain_by_history(const Case& c, const TrialResult& result,
                                             const Reproducer& found, const WorkerOptions& worker,
                                             const std::function<bool()>& fails_here);

}  // namespace warpfuzz
