#include "fuzzers/profile_report.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace warpfuzz {
namespace {

// law, calls, elements, nan, inf, undecided, wrong; five of the error in ulp; four of its ratio to
// the tolerance: at most 120 columns.
constexpr const char* row_format =
    "{:<20} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>6} {:>6} {:>6} {:>6} {:>6}  {:>6} {:>6} {:>6} "
    "{:>6}\n";

// At most five characters.
std::string count_text(uint64_t count) {
  const auto value = static_cast<double>(count);
  if (count < 100'000) return std::to_string(count);
  for (const auto& [unit, letter] : {std::pair{1e3, 'k'}, {1e6, 'M'}, {1e9, 'G'}}) {
    if (value < 9.95 * unit) return fmt::format("{:.1f}{}", value / unit, letter);
    if (value < 999.5 * unit) return fmt::format("{:.0f}{}", value / unit, letter);
  }
  return fmt::format("{:.0e}", value);
}

// At most six characters: "0.0499", "12.3", "1234", "8.4e37", "2e-12".
std::string figure_text(double value) {
  if (value == 0) return "0";
  if (value >= 0.00995 && value < 999.5) return fmt::format("{:.3g}", value);
  if (value >= 999.5 && value < 99999.5) return fmt::format("{:.0f}", value);
  const bool longest = value < 9.95e-10 || value >= 9.95e99;
  std::string text = fmt::format("{:.{}e}", value, longest ? 0 : 1);
  const size_t sign = text.find('e') + 1;  // "e+07" is "e7", "e-05" is "e-5"
  while (text[sign + 1] == '0' && text.size() > sign + 2) text.erase(sign + 1, 1);
  if (text[sign] == '+') text.erase(sign, 1);
  return text;
}

std::string percentile_text(const Distribution& distribution, double q) {
  if (distribution.sketch.count() == 0) return "-";
  return figure_text(distribution.sketch.percentile(q));
}

std::string row(std::string_view title, const ErrorProfile& p) {
  const ProfileCounts& n = p.counts;
  return fmt::format(
      fmt::runtime(row_format), title, count_text(n.calls), count_text(n.elements),
      count_text(n.nan), count_text(n.infinite), count_text(n.undecided), count_text(n.wrong),
      percentile_text(p.ulps, 0.5), percentile_text(p.ulps, 0.9), percentile_text(p.ulps, 0.99),
      percentile_text(p.ulps, 0.999), percentile_text(p.ulps, 1), percentile_text(p.ratios, 0.5),
      percentile_text(p.ratios, 0.99), percentile_text(p.ratios, 1), percentile_text(p.shares, 1));
}

std::string table_head(const std::string& title) {
  return fmt::format("{:<58} {:<34}  {}\n", title, "error in ulp", "error / tolerance") +
         fmt::format(fmt::runtime(row_format), "law", "calls", "elem.", "nan", "inf", "undec",
                     "wrong", "p50", "p90", "p99", "p99.9", "max", "p50", "p99", "max", "used");
}

std::string extreme_text(const char* what, const Extreme& worst) {
  if (worst.value == 0) return "";
  return fmt::format("  {} {} at {}: {:.9g}, unrounded reference {:.9g}\n    {}\n", what,
                     figure_text(worst.value), worst.element, worst.observed, worst.expected,
                     worst.call);
}

std::string details(const ErrorProfile& p) {
  std::string text = extreme_text("largest error in ulp", p.ulps.worst) +
                     extreme_text("largest error / tolerance", p.ratios.worst) +
                     extreme_text("most of a tolerance used", p.shares.worst);
  if (p.counts.unexpected > 0) {
    text +=
        fmt::format("  {} elements are finite where the reference is not\n", p.counts.unexpected);
  }
  if (p.counts.failed > 0) {
    text += fmt::format("  {} of the {} calls did not run to their end; the first: {}\n",
                        p.counts.failed, p.counts.calls, p.failure);
  }
  return text;
}

}  // namespace

std::string profile_text(const ProfileHeader& header, const ValueProfile& profile) {
  std::string text;
  for (const DTypeProfile& dtypes : profile.dtypes) {
    text += table_head(dtypes.dtypes);
    for (const LawProfile& law : dtypes.laws) text += row(name(law.law), law.profile);
    const ErrorProfile total = dtypes.total();
    text += row("all laws", total) + details(total);
    for (const LawProfile& law : dtypes.laws) {
      if (law.law != ValueLaw::normal || law.profile.quantisation.elements == 0) continue;
      text += fmt::format("  quantised, {} values: {}\n", name(law.law),
                          describe(law.profile.quantisation));
    }
    text += "\n";
  }
  const ErrorProfile total = profile.total();
  if (profile.dtypes.size() > 1) text += table_head("all dtypes") + row("all laws", total) + "\n";
  text +=
      fmt::format("{} {} on {}: {} calls in {:.1f} s, seed {}, tier {}\n", header.op, header.kernel,
                  header.device, total.counts.calls, profile.seconds, header.seed, header.tier);
  text += fmt::format(
      "{} elements: {} measured ({} of them without tolerance), {} wrong, {} nan, {} infinite, {} "
      "undecided\n",
      total.counts.elements, total.ulps.sketch.count(), total.counts.exact, total.counts.wrong,
      total.counts.nan, total.counts.infinite, total.counts.undecided);
  text +=
      "ulp: distance from the unrounded reference in units of its last place, 0.5 at best where "
      "the output rounds.\nused: the largest part of a tolerance that computing took, without that "
      "rounding; beyond 1 is wrong.\n";
  if (profile.interrupted) text += "interrupted\n";
  if (profile.device_lost) text += "the device stopped answering: the last call is not complete\n";
  return text;
}

}  // namespace warpfuzz
