#include "kernels/simt/source_lines.h"

#include <algorithm>

#include "kernels/simt/cuda_tokens.h"

namespace warpfuzz {

SourceLines source_lines(std::string_view preprocessed) {
  SourceLines result;
  SourceLine next;
  for (size_t begin = 0; begin < preprocessed.size();) {
    const size_t end = std::min(preprocessed.find('\n', begin), preprocessed.size());
    SourceMarker marker;
    if (preprocessed[begin] == '#' && parse_line_marker(preprocessed, {begin, end}, marker)) {
      const auto known = std::find_if(result.files.begin(), result.files.end(),
                                      [&](const auto& file) { return file.name == marker.file; });
      next = {static_cast<size_t>(known - result.files.begin()), marker.line};
      if (known == result.files.end()) result.files.push_back({marker.file, marker.system_header});
      result.lines.push_back({next.file, 0});
    } else {
      const bool empty = preprocessed.substr(begin, end - begin).find_first_not_of(" \t\r") ==
                         std::string_view::npos;
      result.lines.push_back({next.file, empty ? 0 : next.line});
      if (next.line != 0) ++next.line;
    }
    begin = end + 1;
  }
  return result;
}

}  // namespace warpfuzz
