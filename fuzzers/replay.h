// Running a stored reproducer again: the same call and the same input bits, on the kernel it names
// or another one. Independent of the generator that made the bits.
#pragma once

#include <filesystem>
#include <optional>

#include "crashes/reproducer.h"
#include "fuzzers/installation.h"
#include "fuzzers/kernel_under_test.h"
#include "fuzzers/trial.h"

namespace warpfuzz {

struct Replay {
  Case c;
  TrialResult result;
  Reproducer reproduced;      // of this run; only if it is a violation
  bool same_gate = false;     // as stored
  bool same_outputs = false;  // bit for bit
  std::string not_judged;     // why a run without violation is no pass; empty if it is one
};

// The kernel is `kernel` if not empty, else the one the reproducer names, compiled for the CPU
// device with this instrumentation. Throws UsageError when it is not there any more, and what
// loading it throws.
Replay replay(const Installation& installation, const Reproducer& stored, const std::string& kernel,
              const DeviceChoice& device, const Instrumentation& instrumentation);

}  // namespace warpfuzz
