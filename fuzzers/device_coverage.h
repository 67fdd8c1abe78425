// Which lines and branches of a kernel's device code the cases of a corpus reach on a GPU, by the
// counters that the instrumenter of PTX has added.
#pragma once

#include <filesystem>
#include <memory>

#include "fuzzers/device_choice.h"
#include "fuzzers/kernel_coverage.h"

namespace warpfuzz {

// Runs the corpus and the findings of the work directory. A case that costs its process the device
// counts as faulted and shows no lines; the others go on in another process. `source` is what the
// user named. Throws CompileError, KernelError, DeviceUnavailable, std::system_error.
KernelCoverage measure_device_coverage(const Installation& installation,
                                       const std::shared_ptr<const Schema>& schema,
                                       const std::filesystem::path& source,
                                       const WorkDirectory& work, const CaseLimits& limits,
                                       const DeviceChoice& device);

}  // namespace warpfuzz
