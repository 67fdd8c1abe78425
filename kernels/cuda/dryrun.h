// What `nvcc --dryrun` prints: the environment and the commands of a compilation, as two shell
// scripts with a gap between compiling to PTX and assembling it.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace warpfuzz::cuda {

struct CompilationSteps {
  std::string to_ptx;         // scripts for sh
  std::string assemble;       // ptxas alone, telling what it does
  std::string from_ptx;       // begins with ptxas
  std::filesystem::path ptx;  // what the first writes and the second reads
};

// Throws std::runtime_error if the text has not exactly one ptxas step with one PTX file.
CompilationSteps split_dryrun(const std::string& text);

// Registers of each entry, from what `ptxas -v` prints.
std::map<std::string, unsigned, std::less<>> entry_registers(const std::string& text);

}  // namespace warpfuzz::cuda
