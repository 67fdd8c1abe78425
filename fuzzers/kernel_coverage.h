// Which lines and branches of a kernel's source the cases of a corpus reach. Cases are only run,
// not judged.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "fuzzers/installation.h"
#include "fuzzers/work_directory.h"
#include "kernels/line_counts.h"
#include "schemas/case.h"

namespace warpfuzz {

struct KernelCoverage {
  size_t cases = 0;          // that the kernel ran
  size_t faulted = 0;        // of these
  bool device_code = false;  // only that was watched; counts are of cases, not of executions
  std::vector<FileCounts> files;
};

// The corpus of a work directory, then its findings.
std::vector<Case> stored_cases(const std::shared_ptr<const Schema>& schema,
                               const WorkDirectory& work, const CaseLimits& limits);

// `source` is a .cu file. Runs the corpus and the findings of the work directory on the CPU device.
// Throws CompileError, KernelError, std::system_error.
KernelCoverage measure_coverage(const Installation& installation,
                                const std::shared_ptr<const Schema>& schema,
                                const std::filesystem::path& source, const WorkDirectory& work,
                                const CaseLimits& limits);

}  // namespace warpfuzz
