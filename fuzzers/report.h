// A finding in words, from its reproducer: for a terminal, as one JSON object, and as a JUnit test
// case. The only place that words findings.
#pragma once

#include <filesystem>
#include <string>

#include "crashes/reproducer.h"

namespace warpfuzz {

// Several lines, ending in a newline. `file` is where the reproducer lies.
std::string describe_finding(const Reproducer& reproducer, const std::filesystem::path& file);
// The part of it that tells the faults, two lines each.
std::string describe_faults(const Evidence& evidence);

// {"signature":…,"gate":…,"reproducer":…,…} without a newline.
std::string finding_json(const Reproducer& reproducer, const std::filesystem::path& file);

}  // namespace warpfuzz
