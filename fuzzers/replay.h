// Running a stored reproducer again: the same call and the same input bits, on the kernel it names
// or another one. Independent of the generator that made the bits.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "crashes/reproducer.h"
#include "fuzzers/installation.h"
#include "fuzzers/kernel_under_test.h"
#include "fuzzers/trial.h"

namespace warpfuzz {

// A stored call with its input bits, in the order of the schema.
struct ReplayedCall {
  Case c;
  std::vector<Tensor> inputs;
};
// Throws ReproducerError where the file does not hold what its call needs.
ReplayedCall replayed_call(const Reproducer& stored, const std::shared_ptr<const Schema>& schema);

struct ReplayOptions {
  std::string kernel;  // empty: the one that the reproducer names
  DeviceChoice device;
  Instrumentation instrumentation;  // of a kernel compiled for the CPU device
  std::string sanitizer;            // a tool of compute-sanitizer that watches the call first
  std::filesystem::path file;       // of the reproducer, for that tool
};

struct Replay {
  Case c;
  TrialResult result;
  Reproducer reproduced;        // of this run; only if it is a violation
  bool same_gate = false;       // as stored
  bool same_outputs = false;    // bit for bit
  std::string not_judged;       // why a run without violation is no pass; empty if it is one
  std::vector<Fault> reported;  // by compute-sanitizer
};

// What compute-sanitizer has seen is judged with the run and becomes part of its finding. Throws
// UsageError when the kernel is not there any more, and what loading it throws.
Replay replay(const Installation& installation, const Reproducer& stored,
              const ReplayOptions& options);

}  // namespace warpfuzz
