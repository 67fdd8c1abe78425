// What to do with a case that ended the process which ran it: try it alone in a fresh process, and
// if that ends too, shrink it the same way and store it as a finding.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "fuzzers/worker.h"
#include "fuzzers/worker_process.h"

namespace warpfuzz {

// True if a finding was stored in the work directory of `worker`.
bool triage_crash(std::span<const uint8_t> bytes, const WorkerOptions& worker);

// Whether replaying a stored finding on this kernel, in a process of its own, still fails.
bool still_fails(const std::filesystem::path& reproducer, const WorkerOptions& worker);

}  // namespace warpfuzz
