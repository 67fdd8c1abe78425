// A campaign: worker processes that share a corpus and the store of known signatures, supervised
// until time, runs or the first finding end it. A worker that dies is replaced, and the case it was
// running becomes a finding if it ends a fresh process too.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "crashes/reproducer.h"
#include "fuzzers/worker.h"

namespace warpfuzz {

struct CampaignOptions {
  WorkerOptions worker;  // kernel, object and work are set
  std::chrono::duration<double> time{60};
  uint64_t runs = 0;                                  // 0: no bound
  std::chrono::duration<double> worker_timeout{180};  // a worker that finishes no run is replaced
  uint32_t seed = 1;
  size_t workers = 1;
  size_t threads = 0;  // of each worker; 0: what the device leaves idle
  bool seeds = true;   // start an empty corpus from boundary and stored seeds
};

struct Finding {
  std::filesystem::path file;
  Reproducer reproducer;
  bool known_before = false;  // left by an earlier campaign, and still failing
};

struct CampaignState {
  double seconds = 0;
  uint64_t runs = 0;
  uint64_t excluded = 0;
  uint64_t undecided = 0;
  uint64_t violations = 0;
  uint64_t coverage = 0;  // edges of the kernel and features
  uint64_t corpus = 0;
  uint64_t restarts = 0;
  double worst_ratio = 0, worst_share = 0;  // of runs that passed (TrialResult)
  double values_seconds = 0, kernel_seconds = 0, oracle_seconds = 0, gates_seconds = 0;
  std::vector<Finding> findings;

  double runs_per_second() const { return seconds > 0 ? static_cast<double>(runs) / seconds : 0; }
};

// One per output format.
class CampaignReporter {
 public:
  virtual ~CampaignReporter() = default;
  virtual void started(const CampaignOptions& options) = 0;
  virtual void progress(const CampaignState& state) = 0;
  virtual void finding(const Finding& finding) = 0;
  virtual void note(const std::string& message) = 0;  // a worker died, a finding is fixed
  virtual void done(const CampaignState& state) = 0;
};

// Stops early on SIGINT and SIGTERM. Throws EnvironmentError when workers cannot run at all, or not
// any more; findings stay where they are.
CampaignState run_campaign(const CampaignOptions& options, CampaignReporter& reporter);

}  // namespace warpfuzz
