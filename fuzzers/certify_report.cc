#include "fuzzers/certify_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace warpfuzz {
namespace {

// Kernel, campaigns, time to the finding, separation, the usual oracle, the baseline, other gates:
// at most 120 columns, unless more than two other gates name a kernel.
constexpr const char* faulty_format =
    "{:<35.35} {:>5} {:>5} {:>5} {:>5} {:>6} {:>8} {:>4} {:>5} {:>5} {:>5} {:>6}  {}\n";
constexpr const char* correct_format =
    "{:<35.35} {:>8} {:>6} {:>9} {:>6} {:>6} {:>6} {:>4} {:>5}  {}\n";
constexpr size_t most_other_gates = 2;

std::string seconds_text(double seconds) { return fmt::format("{:.2f}", seconds); }

std::string other_gates(const std::set<std::string>& gates) {
  if (gates.size() <= most_other_gates) return fmt::format("{}", fmt::join(gates, " "));
  return fmt::format("{} +{}", *gates.begin(), gates.size() - 1);
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(" \n") + 1);
  return line + "\n";
}

std::string faulty_row(const KernelResult& kernel) {
  const CampaignStatistics g = statistics(kernel.entry, kernel.guided);
  const CampaignStatistics u = statistics(kernel.entry, kernel.unguided);
  const bool baseline = u.campaigns > 0;
  return trimmed(fmt::format(
      fmt::runtime(faulty_format), kernel.entry.name, fmt::format("{}/{}", g.found, g.campaigns),
      fmt::format("{}/{}", g.named, g.campaigns), seconds_text(g.median_seconds),
      seconds_text(g.worst_seconds), g.median_runs, separation_text(g),
      certified_text(kernel.usual, 0), certified_text(kernel.usual, 1),
      baseline ? fmt::format("{}/{}", u.found, u.campaigns) : "-",
      baseline ? seconds_text(u.median_seconds) : "-",
      baseline ? std::to_string(u.median_runs) : "-", other_gates(g.otherwise)));
}

std::string correct_row(const KernelResult& kernel) {
  const CampaignOutcome outcome = kernel.guided.empty() ? CampaignOutcome{} : kernel.guided.front();
  std::set<std::string> gates;
  for (const Alarm& alarm : outcome.alarms) gates.insert(alarm.gate);
  return trimmed(fmt::format(
      fmt::runtime(correct_format), kernel.entry.name, outcome.runs - outcome.excluded,
      outcome.alarms.size(), outcome.undecided, fmt::format("{:.3f}", outcome.worst_ratio),
      fmt::format("{:.3f}", outcome.worst_share),
      fmt::format("{:.0f}%", 100 * outcome.oracle_share), certified_text(kernel.usual, 0),
      certified_text(kernel.usual, 1), other_gates(gates)));
}

std::string faulty_tables(const Certificate& certificate) {
  constexpr std::array<std::pair<KernelGroup, std::string_view>, 3> groups = {
      {{KernelGroup::transcription, "transcription mistakes"},
       {KernelGroup::cheat, "cheats"},
       {KernelGroup::further, "further faults"}}};
  std::string text;
  for (const auto& [group, title] : groups) {
    std::string rows;
    for (const KernelResult& kernel : certificate.kernels) {
      if (kernel.entry.group == group) rows += faulty_row(kernel);
    }
    if (rows.empty()) continue;
    text += fmt::format("{:<65} {:>8} {:<10} unguided\n", "", "error/", "allclose");
    text += trimmed(fmt::format(fmt::runtime(faulty_format), title, "found", "named", "med s",
                                "worst", "runs", "toler.", "1e-2", "torch", "found", "med s",
                                "runs", "otherwise"));
    text += rows + "\n";
  }
  return text;
}

std::string correct_table(const Certificate& certificate) {
  std::string rows;
  for (const KernelResult& kernel : certificate.kernels) {
    if (!kernel.entry.faulty) rows += correct_row(kernel);
  }
  if (rows.empty()) return "";
  return trimmed(fmt::format(fmt::runtime(correct_format), "correct kernels", "runs", "alarms",
                             "undecided", "worst", "used", "oracle", "1e-2", "torch",
                             "alarms by")) +
         rows + "\n";
}

}  // namespace

std::string separation_text(const CampaignStatistics& statistics) {
  if (statistics.separation) return fmt::format("{:.3g}", *statistics.separation);
  return statistics.without_tolerance > 0 ? "exact" : "";
}

std::string certified_text(const UsualVerdict& verdict, size_t table) {
  if (!verdict.asked()) return "-";
  return verdict.accepts[table] ? "yes" : "no";
}

std::string gate_coverage_text(const GateCoverage& coverage) {
  if (!coverage.exercised()) return "not exercised";
  return fmt::format("named {} of the {} kernels that list it", coverage.kernels.count,
                     coverage.kernels.total);
}

std::string certificate_text(const Certificate& certificate, const CertifySummary& summary) {
  std::string text = faulty_tables(certificate) + correct_table(certificate) + "gates\n";
  for (const GateCoverage& row : summary.gates) {
    text +=
        fmt::format("  {}  {:<24} {}\n", row.gate->id, row.gate->title, gate_coverage_text(row));
  }
  text += "\n";
  for (const std::string& line : summary_lines(summary)) text += line + "\n";
  for (const std::string& problem : summary.problems) text += "problem: " + problem + "\n";
  return text;
}

}  // namespace warpfuzz
