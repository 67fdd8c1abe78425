// Turns a kernel source (.cu) into a shared object for the CUDA device: nvcc's own steps, with the
// coverage instrumenter between the compiler to PTX and the assembler, and the hooks of
// runtime_hooks.cc linked in. The CUDA runtime is linked statically: it uses the context that is
// current, so any number of kernels share the device's. Results are cached under a key of the
// content of every file included, compiler and flags; a cache entry is written atomically.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/compile.h"

namespace warpfuzz::cuda {

struct CompileRequest {
  std::filesystem::path source;
  std::filesystem::path cache_directory;
  std::filesystem::path kernel_directory;  // holds warpfuzz_kernel.h and cuda/runtime_hooks.cc
  std::string architecture = "sm_90";
  std::string nvcc = "nvcc";
  std::string host_compiler = "clang++-19";
  bool device_coverage = true;  // counters in the device code
  bool predicates = true;       // of comparisons too, not only of blocks
  bool host_coverage = true;    // edges of the host code reach libFuzzer
  std::string standard = "c++17";
  std::vector<std::string> extra_flags;          // -D..., -I...
  std::chrono::milliseconds time_limit{180000};  // for each step
};

// Path of the shared object. Throws CompileError, also when nvcc is absent, or std::system_error
// when the cache directory cannot be written.
std::filesystem::path compile_for_cuda(const CompileRequest& request);

}  // namespace warpfuzz::cuda
