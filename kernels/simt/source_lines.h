// Where the lines of preprocessed text come from, as its line markers say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpfuzz {

struct SourceLine {
  size_t file = 0;  // index in SourceLines::files
  int line = 0;     // 0: a marker, an empty line, or before the first marker
};

struct SourceLines {
  struct File {
    std::string name;  // as the preprocessor was told
    bool system_header = false;
  };
  std::vector<File> files;
  std::vector<SourceLine> lines;  // [i] is that of line i + 1 of the text
};

SourceLines source_lines(std::string_view preprocessed);

}  // namespace warpfuzz
