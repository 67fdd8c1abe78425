// The calibration matrix: campaigns on the kernels of the manifest, faulty and correct, and what
// the usual oracle says of each. Here are the runs and their results as they came;
// certify_summary.h counts them. The same seed gives the same results, except for times, for calls
// that minimising had no time to make smaller, and for campaigns that a time ends: those on correct
// kernels in the full form, and those that find nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fuzzers/device_choice.h"
#include "fuzzers/manifest.h"
#include "fuzzers/usual_oracle.h"

namespace warpfuzz {

struct CertifyOptions {
  std::vector<std::string> ops, kernels;  // empty: all
  DeviceChoice device;
  std::filesystem::path prebuilt;  // a directory of objects, <kernel>.so; others are compiled
  uint32_t seeds = 10;             // campaigns on each faulty kernel
  double seconds = 60;             // of each of them at most
  double correct_seconds = 20;     // of the campaign on a correct kernel
  size_t jobs = 1;
  bool quick = false;  // one seed, no baseline, correct kernels for a fixed number of runs
};

struct Alarm {
  std::string gate;
  std::string call;  // describe() of the case
};

// One campaign, as its process told.
struct CampaignOutcome {
  uint32_t seed = 0;            // 0: it has not run
  std::vector<Alarm> alarms;    // what it found, in order
  std::optional<double> ratio;  // error / tolerance of the first, if it is a matter of values
  double seconds = 0;           // the start of the process and the loading of the kernel included
  uint64_t runs = 0;            // cases that were drawn
  uint64_t excluded = 0;        // of them, not admitted by the kernel's preconditions
  uint64_t undecided = 0;       // of them, not judged by the oracle
  double worst_ratio = 0;       // error / tolerance of what passed
  double worst_share = 0;       // the same without the output's rounding
  double oracle_share = 0;      // of the time of its trials, spent in the oracle
  std::string problem;          // why it says nothing; empty if it does

  bool found() const { return !alarms.empty(); }
};

struct KernelResult {
  ManifestEntry entry;
  UsualVerdict usual;
  std::string problem;  // why it could not be run at all
  // Faulty: one for each seed, by the guided and by the unguided harness. Correct: one, guided.
  std::vector<CampaignOutcome> guided, unguided;
};

struct Certificate {
  CertifyOptions options;
  std::vector<KernelResult> kernels;
  bool interrupted = false;  // some campaigns are missing
};

// What the process of a campaign printed (--json). Reads the first reproducer for its ratio.
CampaignOutcome parse_campaign(const std::string& output);

// Kernels whose fault shows on another device are left out. Several jobs on a GPU share it through
// MPS; there is one where that is not to be had. After an interrupt there is what was done until
// then. Throws UsageError for names that do not exist.
Certificate certify(const Installation& installation, const CertifyOptions& options);

}  // namespace warpfuzz
