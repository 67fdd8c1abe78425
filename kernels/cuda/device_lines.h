// What the counters of instrumented device code say of the lines of its source.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "kernels/cuda/ptx/coverage_map.h"
#include "kernels/line_counts.h"

namespace warpfuzz::cuda {

// `hits`: of each counter, in how many runs it was set. A line counts as its block that ran most
// often; lines of a template or of an unrolled loop are together, and so are comparisons of one
// kind in one line. Only the user's files, `source` first: neither the CUDA toolkit's and the
// system's headers nor warpfuzz_kernel.h and .hpp.
std::vector<FileCounts> device_line_counts(const ptx::CoverageMap& map,
                                           std::span<const uint64_t> hits,
                                           const std::filesystem::path& source);

}  // namespace warpfuzz::cuda
