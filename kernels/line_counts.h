// How often the lines and branches of a kernel's source have run, by LLVM's source-based coverage.
// The kernel is compiled with Instrumentation::lines; counts are those of the
// loaded object since it was loaded. Needs llvm-profdata and llvm-cov.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace warpfuzz {

// A condition; [0] how often it was true, [1] false.
struct BranchCount {
  int line = 0;
  std::array<uint64_t, 2> taken = {};
  // Device code: what the compiler made of the condition, "ge.s32"; may be its opposite.
  std::string comparison = {};
};

struct FileCounts {
  std::filesystem::path file;
  std::map<int, uint64_t> lines;  // those with code
  std::vector<BranchCount> branches;
};

// Of the user's files, the kernel's source first: not of headers of ours or of the system, which
// lie in `include_directory` or are warpfuzz_kernel.h and .hpp. `object` is in memory and lies
// where compile_for_cpu put it, with its source. Throws KernelError if it was compiled without
// counts, std::system_error if a tool cannot be run.
std::vector<FileCounts> read_line_counts(const std::filesystem::path& object,
                                         const std::filesystem::path& source,
                                         const std::filesystem::path& include_directory);

}  // namespace warpfuzz
