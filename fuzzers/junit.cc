#include "fuzzers/junit.h"

#include <fmt/format.h>

#include <algorithm>

#include "crashes/durable_file.h"

namespace warpfuzz {
namespace {

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // XML 1.0 has no way to write the other control characters.
        out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return out;
}

}  // namespace

void write_junit(const std::filesystem::path& file, const std::string& suite,
                 const std::vector<JUnitCase>& cases) {
  const auto count = [&](std::string JUnitCase::* text) {
    return std::ranges::count_if(cases, [&](const JUnitCase& c) { return !(c.*text).empty(); });
  };
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" tests=\"{}\" "
      "failures=\"{}\" skipped=\"{}\">\n",
      escape(suite), cases.size(), count(&JUnitCase::failure), count(&JUnitCase::skipped));
  for (const JUnitCase& c : cases) {
    xml += fmt::format("  <testcase name=\"{}\" classname=\"{}\"", escape(c.name),
                       escape(c.class_name));
    const auto detail = [&](std::string_view tag, const std::string& text) {
      xml += fmt::format(">\n    <{0}>{1}</{0}>\n  </testcase>\n", tag, escape(text));
    };
    if (!c.failure.empty()) {
      detail("failure", c.failure);
    } else if (!c.skipped.empty()) {
      detail("skipped", c.skipped);
    } else {
      xml += "/>\n";
    }
  }
  xml += "</testsuite>\n";
  replace_file(file, {reinterpret_cast<const uint8_t*>(xml.data()), xml.size()});
}

}  // namespace warpfuzz
