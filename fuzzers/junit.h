// A JUnit XML report, for continuous integration systems.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpfuzz {

struct JUnitCase {
  std::string name;
  std::string class_name;
  std::string failure;  // empty: did not fail
  std::string skipped;  // why it was not judged; empty: it was
};

// Throws std::system_error.
void write_junit(const std::filesystem::path& file, const std::string& suite,
                 const std::vector<JUnitCase>& cases);

}  // namespace warpfuzz
