#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fuzzers/certify_report.h"
#include "fuzzers/html.h"
#include "fuzzers/installation.h"

namespace warpfuzz {
namespace {

constexpr std::string_view page_head = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>warpfuzz certificate</title><style>
body { font: 14px sans-serif; margin: 2em; }
table { border-collapse: collapse; }
th, td { padding: .2em .6em; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
th { border-bottom: 2px solid #888; }
td.n { text-align: right; font-family: monospace; }
tr.bad { background: #fdd; }
tr.other { background: #ffc; }
</style></head><body>
)";

constexpr std::string_view table_head =
    "<table>\n<tr><th>kernel</th><th>group</th><th>fault or style</th><th>gates</th><th>found</th>"
    "<th>named</th><th>otherwise</th><th>median s</th><th>worst s</th><th>runs</th>"
    "<th>error / tolerance</th><th>allclose 1e-2</th><th>allclose torch</th><th>unguided found</th>"
    "<th>unguided median s</th><th>unguided runs</th></tr>\n";

std::string cell(const std::string& text) { return fmt::format("<td>{}</td>", escape_html(text)); }
std::string number(const std::string& text) {
  return fmt::format("<td class=\"n\">{}</td>", escape_html(text));
}

std::string begin_row(std::string_view kind, const KernelResult& kernel) {
  const ManifestEntry& entry = kernel.entry;
  return fmt::format("<tr{}>", kind.empty() ? "" : fmt::format(" class=\"{}\"", kind)) +
         cell(entry.name) + cell(std::string(name(entry.group))) +
         cell(kernel.problem.empty() ? entry.about : kernel.problem) +
         cell(fmt::format("{}", fmt::join(entry.gates, " ")));
}

std::string usual_cells(const KernelResult& kernel) {
  return cell(certified_text(kernel.usual, 0)) + cell(certified_text(kernel.usual, 1));
}

std::string faulty_row(const KernelResult& kernel) {
  const CampaignStatistics g = statistics(kernel.entry, kernel.guided);
  const CampaignStatistics u = statistics(kernel.entry, kernel.unguided);
  std::string row = begin_row(!g.always_found()       ? "bad"
                              : g.named < g.campaigns ? "other"
                                                      : "",
                              kernel);
  row += number(fmt::format("{}/{}", g.found, g.campaigns));
  row += number(fmt::format("{}/{}", g.named, g.campaigns));
  row += cell(fmt::format("{}", fmt::join(g.otherwise, " ")));
  row += number(fmt::format("{:.2f}", g.median_seconds));
  row += number(fmt::format("{:.2f}", g.worst_seconds));
  row += number(std::to_string(g.median_runs));
  row += number(separation_text(g)) + usual_cells(kernel);
  if (u.campaigns == 0) return row + "<td></td><td></td><td></td></tr>\n";
  row += number(fmt::format("{}/{}", u.found, u.campaigns));
  row += number(fmt::format("{:.2f}", u.median_seconds));
  return row + number(std::to_string(u.median_runs)) + "</tr>\n";
}

// Of a correct kernel: what it was accused of, the largest error that passed, and the largest part
// of a tolerance that computing used.
std::string correct_row(const KernelResult& kernel) {
  const CampaignOutcome outcome = kernel.guided.empty() ? CampaignOutcome{} : kernel.guided.front();
  std::set<std::string> gates;
  for (const Alarm& alarm : outcome.alarms) gates.insert(alarm.gate);
  std::string row = begin_row(outcome.found() ? "bad" : "", kernel);
  row += number(fmt::format("{} false alarms", outcome.alarms.size())) + "<td></td>";
  row += cell(fmt::format("{}", fmt::join(gates, " "))) + "<td></td><td></td>";
  row += number(std::to_string(outcome.runs - outcome.excluded));
  row += number(fmt::format("{:.3f}, {:.3f} used", outcome.worst_ratio, outcome.worst_share)) +
         usual_cells(kernel);
  return row + "<td></td><td></td><td></td></tr>\n";
}

}  // namespace

std::string certificate_html(const Certificate& certificate, const CertifySummary& summary) {
  std::string page(page_head);
  page += fmt::format("<h1>warpfuzz certificate</h1>\n<p>{}, {}, CPU device</p>\n<ul>\n",
                      escape_html(version()), escape_html(toolchain()));
  for (const std::string& line : summary_lines(summary)) {
    page += fmt::format("<li>{}</li>\n", escape_html(line));
  }
  for (const GateCoverage& row : summary.gates) {
    page += fmt::format("<li>{} {}: {}</li>\n", row.gate->id,
                        escape_html(std::string(row.gate->title)), gate_coverage_text(row));
  }
  for (const std::string& problem : summary.problems) {
    page += fmt::format("<li>problem: {}</li>\n", escape_html(problem));
  }
  page += "</ul>\n" + std::string(table_head);
  for (const KernelResult& kernel : certificate.kernels) {
    page += kernel.entry.faulty ? faulty_row(kernel) : correct_row(kernel);
  }
  return page + "</table>\n</body></html>\n";
}

}  // namespace warpfuzz
