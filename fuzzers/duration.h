// Durations as users type them.
#pragma once

#include <string>

namespace warpfuzz {

// "90", "90s", "10m", "2h", "1d" in seconds. Throws UsageError, which names the option.
double parse_duration(const std::string& option, const std::string& text);

}  // namespace warpfuzz
