// Program counters to source positions, by llvm-symbolizer; slow, for reports.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace warpfuzz::simt {

struct SourcePosition {
  std::string file;  // empty if not known
  int line = 0;
};

// `offsets` are relative to the object's load base.
std::vector<SourcePosition> find_positions(const std::filesystem::path& object,
                                           const std::vector<uintptr_t>& offsets);

}  // namespace warpfuzz::simt
