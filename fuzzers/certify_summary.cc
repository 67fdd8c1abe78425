#include "fuzzers/certify_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace warpfuzz {
namespace {

void count(Share& share, bool counts) {
  ++share.total;
  if (counts) ++share.count;
}

template <typename Value>
Value median(std::vector<Value> values) {
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool named_by(const KernelResult& kernel, std::string_view gate) {
  return std::any_of(kernel.guided.begin(), kernel.guided.end(), [&](const CampaignOutcome& o) {
    return o.found() && o.alarms.front().gate == gate;
  });
}

std::vector<GateCoverage> gate_coverage(const Certificate& certificate) {
  std::vector<GateCoverage> coverage;
  for (const Gate& gate : gates()) {
    GateCoverage row{&gate, {}};
    for (const KernelResult& kernel : certificate.kernels) {
      if (kernel.entry.may_be_named_by(gate.id)) count(row.kernels, named_by(kernel, gate.id));
    }
    coverage.push_back(row);
  }
  return coverage;
}

void collect_problems(const KernelResult& kernel, std::vector<std::string>& problems) {
  const std::string& name = kernel.entry.name;
  if (!kernel.problem.empty()) problems.push_back(fmt::format("{}: {}", name, kernel.problem));
  for (const auto* outcomes : {&kernel.guided, &kernel.unguided}) {
    for (const CampaignOutcome& outcome : *outcomes) {
      const char* how = outcomes == &kernel.unguided ? " unguided" : "";
      if (!outcome.problem.empty()) {
        problems.push_back(
            fmt::format("{} seed {}{}: {}", name, outcome.seed, how, outcome.problem));
      } else if (outcome.runs == outcome.excluded + outcome.undecided) {
        problems.push_back(
            fmt::format("{} seed {}{}: no case was judged", name, outcome.seed, how));
      }
    }
  }
}

void add_faulty(const KernelResult& kernel, CertifySummary& summary) {
  const CampaignStatistics guided = statistics(kernel.entry, kernel.guided);
  count(summary.found[static_cast<size_t>(kernel.entry.group)], guided.always_found());
  summary.named.count += guided.named;
  summary.named.total += guided.campaigns;
  if (!kernel.unguided.empty()) {
    count(summary.baseline, statistics(kernel.entry, kernel.unguided).always_found());
  }
}

void add_correct(const KernelResult& kernel, CertifySummary& summary) {
  bool accused = false;
  for (const CampaignOutcome& outcome : kernel.guided) {
    accused = accused || outcome.found();
    summary.correct_runs += outcome.runs - outcome.excluded;
    summary.correct_undecided += outcome.undecided;
    if (outcome.worst_share <= summary.worst_share) continue;
    summary.worst_share = outcome.worst_share;
    summary.worst_share_kernel = kernel.entry.name;
  }
  count(summary.accused, accused);
}

}  // namespace

CampaignStatistics statistics(const ManifestEntry& entry,
                              const std::vector<CampaignOutcome>& outcomes) {
  CampaignStatistics result;
  result.campaigns = outcomes.size();
  std::vector<double> seconds;
  std::vector<uint64_t> runs;
  for (const CampaignOutcome& outcome : outcomes) {
    seconds.push_back(outcome.seconds);
    runs.push_back(outcome.runs);
    result.worst_seconds = std::max(result.worst_seconds, outcome.seconds);
    if (!outcome.found()) continue;
    ++result.found;
    const std::string& gate = outcome.alarms.front().gate;
    if (entry.may_be_named_by(gate)) {
      ++result.named;
    } else {
      result.otherwise.insert(gate);
    }
    if (!outcome.ratio) continue;
    ++result.value_findings;
    if (std::isinf(*outcome.ratio)) {
      ++result.without_tolerance;
    } else {
      result.separation = std::min(result.separation.value_or(INFINITY), *outcome.ratio);
    }
  }
  result.median_seconds = median(std::move(seconds));
  result.median_runs = median(std::move(runs));
  return result;
}

bool CertifySummary::passes() const {
  return problems.empty() && accused.count == 0 &&
         std::all_of(found.begin(), found.end(),
                     [](const Share& group) { return group.count == group.total; });
}

CertifySummary summarize(const Certificate& certificate) {
  CertifySummary summary;
  if (certificate.interrupted) {
    summary.problems.emplace_back("interrupted: the campaigns that are missing count as not found");
  }
  for (const KernelResult& kernel : certificate.kernels) {
    const bool faulty = kernel.entry.faulty;
    if (faulty) {
      add_faulty(kernel, summary);
    } else {
      add_correct(kernel, summary);
    }
    collect_problems(kernel, summary.problems);
    if (!kernel.usual.asked()) continue;
    for (size_t table = 0; table < allclose_table_count; ++table) {
      const bool accepts = kernel.usual.accepts[table];
      count((faulty ? summary.certified : summary.refused)[table], faulty == accepts);
    }
  }
  summary.gates = gate_coverage(certificate);
  return summary;
}

std::vector<std::string> summary_lines(const CertifySummary& s) {
  constexpr std::array<std::pair<KernelGroup, std::string_view>, 3> groups = {
      {{KernelGroup::transcription, "transcription mistakes"},
       {KernelGroup::cheat, "cheats"},
       {KernelGroup::further, "further faults"}}};
  const auto share = [](const Share& x) { return fmt::format("{}/{}", x.count, x.total); };
  std::vector<std::string> lines;
  for (const auto& [group, title] : groups) {
    lines.push_back(fmt::format("{} found {}", title, share(s.found[static_cast<size_t>(group)])));
  }
  lines.push_back(fmt::format("campaigns named as the manifest says {}", share(s.named)));
  if (s.baseline.total > 0) {
    lines.push_back(fmt::format("found without guidance {}", share(s.baseline)));
  }
  lines.push_back(fmt::format("false alarms on correct kernels {} (over {} runs, {} undecided)",
                              share(s.accused), s.correct_runs, s.correct_undecided));
  if (!s.worst_share_kernel.empty()) {
    lines.push_back(fmt::format("correct kernels used at most {:.3f} of a tolerance ({})",
                                s.worst_share, s.worst_share_kernel));
  }
  for (size_t i = 0; i < allclose_table_count; ++i) {
    lines.push_back(
        fmt::format("allclose {} certified {} of the {} faulty ones, refused {} of the {} "
                    "correct ones",
                    allclose_tables()[i].about, s.certified[i].count, s.certified[i].total,
                    s.refused[i].count, s.refused[i].total));
  }
  const auto exercised = std::count_if(s.gates.begin(), s.gates.end(),
                                       [](const GateCoverage& g) { return g.exercised(); });
  lines.push_back(fmt::format("gates exercised {}/{}", exercised, s.gates.size()));
  return lines;
}

}  // namespace warpfuzz
