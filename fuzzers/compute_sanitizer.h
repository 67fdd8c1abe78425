// NVIDIA's compute-sanitizer on one stored call: it runs `warpfuzz call` as its child, and its
// report becomes faults.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fuzzers/device_choice.h"
#include "kernels/device.h"

namespace warpfuzz {

// A tool of compute-sanitizer that a user names. Throws UsageError, naming those there are.
void check_sanitizer_tool(const std::string& tool);

// The program: on PATH, or in the CUDA toolkit. Throws EnvironmentError, which says where it was
// looked for.
std::filesystem::path find_compute_sanitizer();

struct SanitizedCall {
  std::filesystem::path reproducer;
  std::filesystem::path source;  // of the kernel: faults in it are named by this path
  std::filesystem::path object;  // what the device loads
  DeviceChoice device;
};

// Throws EnvironmentError where the tool cannot do its work on this device.
std::vector<Fault> run_compute_sanitizer(const std::string& tool, const SanitizedCall& call);

}  // namespace warpfuzz
