// A shared object with device code (.so) in memory: what its ELF headers tell - where its code and
// its static shared memory lie - and its entry points. Objects are never unloaded, since libFuzzer
// keeps pointers to their counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "kernels/device.h"
#include "kernels/simt/address_range.h"
#include "kernels/simt/kernel_state.h"
#include "kernels/simt/shared_memory.h"
#include "kernels/warpfuzz_kernel.h"

namespace warpfuzz::simt {

struct LoadedObject {
  std::filesystem::path path;
  void* handle = nullptr;  // of dlopen
  StaticShared shared;
  AddressRange code;
  AddressRange image;  // all that is mapped of the file
  uintptr_t load_base = 0;
  AddressRange variables;  // __device__ and other global ones, from the first to the last
  std::vector<AddressRange> variable_sections;  // what lies between them is not the kernel's
  AddressRange counters;                        // of coverage, a byte each; libFuzzer clears them
  bool race = false;                            // tells of its accesses: see race/detector.h
};

// Throws KernelError, and DeviceUnavailable where an object of the race mode cannot run.
LoadedObject load_object(const std::filesystem::path& path);

// Fills in file and line of the faults that have a program counter in the object. Slow, for
// reports.
void resolve_positions(std::vector<Fault>& faults, const LoadedObject& object);

using EntryPoint = WfStatus (*)(const WfCall*);

// A kernel under test.
struct KernelObject : LoadedObject {
  KernelState state;  // of its variables, after the object's constructors have run
  EntryPoint entry = nullptr;
  uint64_t (*workspace)(const WfCall*) = nullptr;
  const char* (*preconditions)() = nullptr;
};

// Throws KernelError.
KernelObject load_kernel_object(const std::filesystem::path& path);

}  // namespace warpfuzz::simt
