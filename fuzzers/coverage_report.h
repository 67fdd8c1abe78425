// The coverage of a kernel's source in words, and as a page with the whole source.
#pragma once

#include <string>

#include "fuzzers/kernel_coverage.h"

namespace warpfuzz {

// What was not reached: lines, and branches of which one side was never taken.
std::string coverage_text(const KernelCoverage& coverage);
// A self-contained HTML page.
std::string coverage_html(const KernelCoverage& coverage);

}  // namespace warpfuzz
