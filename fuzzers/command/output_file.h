// A file that an option names for results.
#pragma once

#include <string>

namespace warpfuzz {

// Before the work and not after it: a result that cannot be written is time lost. Nothing to do for
// no file ("") and for stdout ("-"). Throws UsageError and std::system_error.
void check_output_file(const std::string& option, const std::string& file);

// Neither "" nor "-". Throws std::system_error.
void write_output_file(const std::string& file, const std::string& text);

}  // namespace warpfuzz
