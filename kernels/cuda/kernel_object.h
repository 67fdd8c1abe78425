// A kernel object (.so) for the CUDA device in memory: its entry points, and the hooks if
// compile_cuda.h has built it. Objects are never unloaded, since libFuzzer keeps pointers to the
// counters of their host code.
#pragma once

#include <filesystem>

#include "kernels/cuda/runtime_report.h"
#include "kernels/warpfuzz_kernel.h"

namespace warpfuzz::cuda {

struct KernelObject {
  std::filesystem::path path;
  int file = -1;  // open as long as the process lives, so that copies are of what was loaded
  WfStatus (*entry)(const WfCall*) = nullptr;
  uint64_t (*workspace)(const WfCall*) = nullptr;
  const char* (*preconditions)() = nullptr;
  // nullptr in objects that were built otherwise: launches are not counted, device code not
  // covered.
  void (*begin)(void* stream) = nullptr;
  void (*end)(WfCudaReport*) = nullptr;
  int (*coverage)(uint64_t* address, uint64_t* bytes) = nullptr;
  const char* coverage_map = nullptr;
};

// Throws KernelError.
KernelObject load_kernel_object(const std::filesystem::path& path);
// The same object beside itself: with variables of its own, except those that the loader shares
// among all objects of a process (STB_GNU_UNIQUE: static ones of templates).
KernelObject load_copy(const KernelObject& object);

}  // namespace warpfuzz::cuda
