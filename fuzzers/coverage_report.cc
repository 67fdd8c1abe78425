#include "fuzzers/coverage_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "fuzzers/html.h"

namespace warpfuzz {
namespace {

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string line_of(const std::vector<std::string>& lines, int number) {
  const auto index = static_cast<size_t>(number) - 1;
  return index < lines.size() ? lines[index] : "";
}

bool reached(const BranchCount& branch, size_t side) { return branch.taken[side] != 0; }
bool evaluated(const BranchCount& branch) { return reached(branch, 0) || reached(branch, 1); }

std::string summary(const FileCounts& file, bool device_code) {
  const auto lines = std::count_if(file.lines.begin(), file.lines.end(),
                                   [](const auto& line) { return line.second != 0; });
  size_t sides = 0;
  for (const BranchCount& branch : file.branches) sides += reached(branch, 0) + reached(branch, 1);
  return fmt::format("{}: {} of {} {}lines and {} of {} branches reached", shown_path(file.file),
                     lines, file.lines.size(), device_code ? "device " : "", sides,
                     2 * file.branches.size());
}

std::string cases_text(const KernelCoverage& coverage) {
  return fmt::format("{} case{}{}", coverage.cases, coverage.cases == 1 ? "" : "s",
                     coverage.faulted == 0 ? "" : fmt::format(", {} faulted", coverage.faulted));
}

// "never true", "never false"; empty if both sides ran or none did.
std::string missing_side(const BranchCount& branch) {
  if (!evaluated(branch) || (reached(branch, 0) && reached(branch, 1))) return {};
  return reached(branch, 0) ? "never false" : "never true";
}

// What "true" and "false" are of, where the compiler decides.
std::string as_compiled(const BranchCount& branch) {
  return branch.comparison.empty() ? "" : fmt::format("   [{}]", branch.comparison);
}

constexpr std::string_view page_head = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Kernel coverage</title><style>
body { font: 14px sans-serif; margin: 2em; }
table { border-collapse: collapse; font: 13px monospace; }
td { padding: 0 .8em; white-space: pre; vertical-align: top; }
td.n { text-align: right; color: #777; }
tr.missed { background: #fdd; }
tr.partial { background: #ffc; }
td.b { color: #a50; }
</style></head><body>
)";

}  // namespace

std::string coverage_text(const KernelCoverage& coverage) {
  std::string text;
  for (const FileCounts& file : coverage.files) {
    if (file.lines.empty()) continue;
    const std::vector<std::string> source = read_lines(file.file);
    text += fmt::format("{} by {}\n", summary(file, coverage.device_code), cases_text(coverage));
    for (const auto& [line, count] : file.lines) {
      if (count == 0)
        text += fmt::format("  {:>5}  not reached   {}\n", line, line_of(source, line));
    }
    for (const BranchCount& branch : file.branches) {
      const std::string side = missing_side(branch);
      if (side.empty()) continue;
      text += fmt::format("  {:>5}  {:<11}   {}{}\n", branch.line, side,
                          line_of(source, branch.line), as_compiled(branch));
    }
  }
  return text;
}

std::string coverage_html(const KernelCoverage& coverage) {
  std::string page(page_head);
  for (const FileCounts& file : coverage.files) {
    if (file.lines.empty()) continue;
    page += fmt::format("<h2>{} by {}</h2>\n<table>\n",
                        escape_html(summary(file, coverage.device_code)), cases_text(coverage));
    const std::vector<std::string> source = read_lines(file.file);
    // A source that is not here still has numbers.
    const int last = std::max(static_cast<int>(source.size()), file.lines.rbegin()->first);
    for (int line = 1; line <= last; ++line) {
      const auto count = file.lines.find(line);
      std::string sides;
      for (const BranchCount& branch : file.branches) {
        if (branch.line != line) continue;
        sides += fmt::format("{}{} true, {} false{}", sides.empty() ? "" : "; ", branch.taken[0],
                             branch.taken[1], escape_html(as_compiled(branch)));
      }
      const bool missed = count != file.lines.end() && count->second == 0;
      const bool partial =
          std::any_of(file.branches.begin(), file.branches.end(), [&](const BranchCount& branch) {
            return branch.line == line && !missing_side(branch).empty();
          });
      page += fmt::format(
          "<tr{}><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td><td "
          "class=\"b\">{}</td></tr>\n",
          missed    ? " class=\"missed\""
          : partial ? " class=\"partial\""
                    : "",
          line, count != file.lines.end() ? fmt::to_string(count->second) : "",
          escape_html(line_of(source, line)), sides);
    }
    page += "</table>\n";
  }
  return page + "</body></html>\n";
}

}  // namespace warpfuzz
