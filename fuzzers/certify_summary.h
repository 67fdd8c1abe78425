// What a certificate comes to: statistics of each kernel, counts over all of them, and the verdict.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fuzzers/certify.h"
#include "gates/gate.h"

namespace warpfuzz {

// Campaigns on one faulty kernel. A campaign that finds nothing counts with the time and the runs
// that it had.
struct CampaignStatistics {
  size_t campaigns = 0;
  size_t found = 0;
  size_t named = 0;                 // by a gate of the manifest's row
  std::set<std::string> otherwise;  // the gates that named it instead
  double median_seconds = 0, worst_seconds = 0;
  uint64_t median_runs = 0;
  // Error / tolerance of the findings that are a matter of values: how many there are, how many of
  // them admit no error at all (their ratio is infinite), and the least of the others.
  size_t value_findings = 0, without_tolerance = 0;
  std::optional<double> separation;

  bool always_found() const { return campaigns > 0 && found == campaigns; }
};
CampaignStatistics statistics(const ManifestEntry& entry,
                              const std::vector<CampaignOutcome>& outcomes);

struct Share {
  size_t count = 0;
  size_t total = 0;
};

struct GateCoverage {
  const Gate* gate = nullptr;
  Share kernels;  // that it accused as the manifest says, of those whose row lists it

  bool exercised() const { return kernels.count > 0; }
};

struct CertifySummary {
  std::array<Share, kernel_group_names.size()> found;  // faulty kernels found in every campaign
  Share named;                                         // campaigns
  Share baseline;                                      // faulty kernels that it always found
  Share accused;                                       // correct kernels: false alarms
  uint64_t correct_runs = 0;                           // judged or not, but admitted
  uint64_t correct_undecided = 0;
  double worst_share = 0;  // of a tolerance that a correct kernel used, and which one
  std::string worst_share_kernel;
  std::array<Share, allclose_table_count> certified;  // faulty kernels that allclose accepts
  std::array<Share, allclose_table_count> refused;    // correct kernels that it does not accept
  std::vector<GateCoverage> gates;                    // all, in the order of their table
  std::vector<std::string> problems;  // campaigns and kernels that say nothing, and why

  bool passes() const;
};
CertifySummary summarize(const Certificate& certificate);

// One line each: what a reader wants to know first.
std::vector<std::string> summary_lines(const CertifySummary& summary);

}  // namespace warpfuzz
