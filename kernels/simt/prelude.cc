#include "kernels/simt/prelude.h"

#include <algorithm>

#include "kernels/simt/cuda_tokens.h"

namespace warpfuzz {
namespace {

// Stand for the kernel's file in the line markers of a prelude.
constexpr std::string_view begin_marker = "# 1 \"<prelude>\"\n";
constexpr std::string_view return_marker = "# 1 \"<prelude>\" 2\n";

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r\n") == line.npos; }

}  // namespace

SplitSource split_prelude(std::string_view text, std::span<const std::string> shared_headers) {
  const auto is_shared = [&](const SourceMarker& marker) {
    return marker.system_header || marker.file.starts_with('<') ||
           std::any_of(shared_headers.begin(), shared_headers.end(),
                       [&](const std::string& path) { return marker.file.starts_with(path); });
  };
  SplitSource result;
  result.prelude = begin_marker;
  size_t prelude_size = 0;       // of result.prelude, up to the last return to the kernel's file
  size_t rest = 0;               // where the text goes on from there
  std::string_view rest_marker;  // what says so, without its flag: there is nothing to return from
  int depth = 0;                 // of includes; 0 is the kernel's file
  SourceMarker marker;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const size_t next = std::min(end + 1, text.size());
    const std::string_view line = text.substr(begin, next - begin);
    marker = {};
    const bool is_marker = line.starts_with('#') && parse_line_marker(text, {begin, end}, marker);
    if (depth == 0 && (is_marker ? marker.enters_include && !is_shared(marker) : !is_blank(line))) {
      break;
    }
    depth += marker.enters_include ? 1 : marker.leaves_include ? -1 : 0;
    if (depth > 0) {
      result.prelude += line;
    } else if (marker.leaves_include) {
      result.prelude += return_marker;
      prelude_size = result.prelude.size();
      rest = next;
      rest_marker = line.substr(0, line.rfind('"') + 1);
    }
    begin = next;
  }
  result.prelude.resize(prelude_size);
  if (prelude_size > 0) result.rest = std::string(rest_marker) + "\n";
  result.rest += text.substr(rest);
  return result;
}

}  // namespace warpfuzz
