// A kernel object (.so) in memory: its entry points, and what its ELF headers tell - where its code
// and its static shared memory lie. Objects are never unloaded, since libFuzzer keeps pointers to
// their counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "kernels/simt/code_range.h"
#include "kernels/simt/shared_memory.h"
#include "kernels/warpfuzz_kernel.h"

namespace warpfuzz::simt {

using EntryPoint = WfStatus (*)(const WfCall*);

struct KernelObject {
  std::filesystem::path path;
  EntryPoint entry = nullptr;
  uint64_t (*workspace)(const WfCall*) = nullptr;
  const char* (*preconditions)() = nullptr;
  StaticShared shared;
  CodeRange code;
  uintptr_t load_base = 0;
};

// Throws KernelError.
KernelObject load_kernel_object(const std::filesystem::path& path);

}  // namespace warpfuzz::simt
