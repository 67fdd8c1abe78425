// What NVIDIA's compute-sanitizer reports, as faults. Its text is hostile: a kernel's names are in
// it. What is not understood is left out, never an error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/device.h"

namespace warpfuzz::cuda {

inline constexpr size_t max_sanitizer_report_bytes = 4 << 20;

// An allocation that reports may speak of, by the name of its tensor.
struct NamedAllocation {
  std::string name;
  uint64_t address = 0;
  uint64_t bytes = 0;
};

struct SanitizerReport {
  bool complete = false;      // the tool came to its end
  std::vector<Fault> faults;  // each place once, at most max_faults, in the order of the text
};

SanitizerReport parse_sanitizer_report(std::string_view text,
                                       const std::vector<NamedAllocation>& allocations);

}  // namespace warpfuzz::cuda
