#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "fuzzers/html.h"
#include "fuzzers/profile_report.h"

namespace warpfuzz {
namespace {

// Pixels of one plot; the legend stands right of it.
constexpr double width = 1000, panel = 460;
constexpr double left = 60, right = 740, top = 50, bottom = 360;
constexpr double legend = right + 24, legend_line = 17;
constexpr double most_ticks = 14;
constexpr double finest = 0.5;  // what is closer together is drawn as one
// Decades of the axis: what is below the first lies on its left edge.
constexpr double first_decade = -4, least_last_decade = 1;

// Dark enough on white, and distinguishable for most colour-blind readers; laws beyond these repeat
// them with another dash.
constexpr std::array<std::string_view, 8> colors = {"#0072b2", "#d55e00", "#009e73", "#a0307f",
                                                    "#333333", "#b58900", "#3b7dd8", "#8c2d04"};
constexpr std::array<std::string_view, 3> dashes = {"", "7 3", "2 3"};

struct Axis {
  double last;  // decade

  double x(double ulps) const {
    const double decade = ulps > 0 ? std::log10(ulps) : first_decade;
    return left + (right - left) * (std::clamp(decade, first_decade, last) - first_decade) /
                      (last - first_decade);
  }
};

double y(double share) { return bottom - (bottom - top) * share; }

std::string style(size_t law) {
  const std::string_view dash = dashes[law / colors.size() % dashes.size()];
  return fmt::format("stroke=\"{}\"{}", colors[law % colors.size()],
                     dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view stroke) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1,
                     x2, y2, stroke);
}

std::string text(double x, double y, std::string_view anchor, const std::string& content) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     escape_html(content));
}

std::string grid(const Axis& axis) {
  constexpr std::string_view pale = "stroke=\"#ddd\"";
  std::string svg;
  for (int i = 0; i <= 4; ++i) {
    svg += line(left, y(i / 4.0), right, y(i / 4.0), pale);
    svg += text(left - 6, y(i / 4.0) + 4, "end", fmt::format("{} %", 25 * i));
  }
  const double step = std::ceil((axis.last - first_decade) / most_ticks);
  for (double decade = first_decade; decade <= axis.last; decade += step) {
    const double at = axis.x(std::pow(10, decade));
    svg += line(at, top, at, bottom, pale);
    svg += text(at, bottom + 16, "middle",
                decade == first_decade        ? fmt::format("\u2264 1e{:.0f}", decade)
                : decade >= -3 && decade <= 3 ? fmt::format("{:g}", std::pow(10, decade))
                                              : fmt::format("1e{:.0f}", decade));
  }
  svg += line(axis.x(0.5), top, axis.x(0.5), bottom, "stroke=\"#999\" stroke-dasharray=\"4 3\"");
  svg += text(axis.x(0.5), top - 4, "middle", "0.5");
  svg += line(left, bottom, right, bottom, "stroke=\"#555\"");
  svg += line(left, top, left, bottom, "stroke=\"#555\"");
  return svg + text((left + right) / 2, bottom + 36, "middle", "error in ulp of the output");
}

// The share of the errors that are at most x.
std::string curve(const ErrorSketch& sketch, const Axis& axis, size_t law) {
  const auto count = static_cast<double>(sketch.count());
  double share = 0, drawn_x = left, drawn_y = bottom;
  std::string path;
  for (const ErrorSketch::Step& step : sketch.steps()) {
    const double next = share + static_cast<double>(step.count) / count;
    if (axis.x(step.high) == left) {  // all of these begin there together
      share = next;
      continue;
    }
    if (path.empty()) path = fmt::format("M{:.1f} {:.1f}", left, y(share));
    share = next;
    if (axis.x(step.high) - drawn_x < finest && drawn_y - y(share) < finest) continue;
    drawn_x = axis.x(step.high);
    drawn_y = y(share);
    path += fmt::format("H{:.1f}L{:.1f} {:.1f}", axis.x(step.low), drawn_x, drawn_y);
  }
  if (path.empty()) path = fmt::format("M{:.1f} {:.1f}", left, y(share));
  path += fmt::format("V{:.1f}H{:.1f}", y(1), right);
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke-width=\"1.5\" {}/>\n", path, style(law));
}

std::string plot(const DTypeProfile& dtypes, double offset) {
  double largest = 0;
  for (const LawProfile& law : dtypes.laws) {
    largest = std::max(largest, law.profile.ulps.sketch.maximum());
  }
  const Axis axis{std::max(least_last_decade, largest > 0 ? std::ceil(std::log10(largest)) : 0)};
  std::string svg = fmt::format("<g transform=\"translate(0 {:.0f})\">\n", offset);
  svg += fmt::format("<text x=\"{}\" y=\"24\" font-size=\"15\">{}</text>\n", left,
                     escape_html(dtypes.dtypes));
  svg += grid(axis);
  double at = top + 4;
  for (size_t i = 0; i < dtypes.laws.size(); ++i) {
    const ErrorSketch& sketch = dtypes.laws[i].profile.ulps.sketch;
    const bool empty = sketch.count() == 0;
    if (!empty) svg += curve(sketch, axis, i);
    if (!empty) {
      svg += line(legend, at, legend + 26, at, "stroke-width=\"2\" " + style(i));
    }
    svg += text(legend + 32, at + 4, "start",
                std::string(name(dtypes.laws[i].law)) + (empty ? " (nothing measured)" : ""));
    at += legend_line;
  }
  return svg + "</g>\n";
}

}  // namespace

std::string profile_svg(const ProfileHeader& header, const ValueProfile& profile) {
  const double height = panel * static_cast<double>(profile.dtypes.size()) + 40;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 "
      "0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n<rect "
      "width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, height);
  const std::string title = fmt::format("Errors of {} {} on {}: cumulative distribution per law",
                                        header.op, header.kernel, header.device);
  svg += fmt::format("<title>{0}</title>\n<text x=\"{1}\" y=\"28\" font-size=\"17\">{0}</text>\n",
                     escape_html(title), left);
  double offset = 40;
  for (const DTypeProfile& dtypes : profile.dtypes) {
    svg += plot(dtypes, offset);
    offset += panel;
  }
  return svg + "</svg>\n";
}

}  // namespace warpfuzz
