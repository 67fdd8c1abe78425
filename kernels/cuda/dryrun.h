// What `nvcc --dryrun` prints: the environment and the commands of a compilation, as two shell
// scripts with a gap between compiling to PTX and assembling it.
#pragma once

#include <filesystem>
#include <string>

#include "kernels/cuda/ptx/instrument.h"

namespace warpfuzz::cuda {

struct CompilationSteps {
  std::string to_ptx;         // scripts for sh
  std::string assemble;       // ptxas alone, telling what it does
  std::string from_ptx;       // begins with ptxas
  std::filesystem::path ptx;  // what the first writes and the second reads
};

// Throws std::runtime_error if the text has not exactly one ptxas step with one PTX file.
CompilationSteps split_dryrun(const std::string& text);

// From what `ptxas -v` prints.
ptx::EntryRegisters entry_registers(const std::string& text);

}  // namespace warpfuzz::cuda
