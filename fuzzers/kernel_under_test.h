// The kernel under test, from what the user named: a .cu file (compiled for the device), a .so
// file, the manifest of a PTX or cubin module (.json), or the name of a kernel of
// kernels/manifest.json. Holds the device, the loaded kernel and what identifies it in a
// reproducer.
#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "crashes/reproducer.h"
#include "fuzzers/device_choice.h"
#include "fuzzers/installation.h"
#include "kernels/device.h"

namespace warpfuzz {

// The file that `kernel` means. Throws UsageError with what exists instead.
std::filesystem::path find_kernel(const Installation& installation, const std::string& kernel);

// Whether a kernel's file is the manifest of a PTX or cubin module.
bool is_module(const std::filesystem::path& kernel);

// The file that the device loads; compiles a .cu when needed, with the given instrumentation (of
// which the CUDA device knows coverage only). Throws CompileError, and DeviceUnavailable where the
// device decides how to compile.
std::filesystem::path build_kernel(
    const Installation& installation, const std::filesystem::path& kernel,
    const DeviceChoice& device, const Instrumentation& instrumentation = build_instrumentation());

// Loads a PTX or cubin kernel once, in a process of its own: a campaign's workers would say too
// late what is wrong with it. Other kernels are not looked at. Throws KernelError,
// DeviceUnavailable.
void check_module(const std::filesystem::path& kernel, const DeviceChoice& device,
                  const Schema& schema);

// The mode that `--sanitize` names. Throws UsageError, with what exists instead, also for a mode
// whose objects this build cannot load.
const BuildMode& find_build_mode(const std::string& name);

// How a source is compiled for the CPU device.
CompileRequest compile_request(const Installation& installation,
                               const std::filesystem::path& source,
                               const Instrumentation& instrumentation);

struct KernelUnderTest {
  KernelIdentity identity;
  std::unique_ptr<Device> device;
  std::unique_ptr<Kernel> kernel;
  std::vector<int64_t> constants;       // of its source; none for a library
  std::function<Kernel*()> race_build;  // as race_build_of() gives it
};

// Starts to compile the race build of a .cu for the CPU device beside what else goes on; whoever
// needs it finds it in the cache or waits there. Whatever goes wrong is left to them to say.
std::future<void> prebuild_race_kernel(const std::filesystem::path& source,
                                       const DeviceChoice& device);

// Gives the race build of a .cu for the CPU device, compiled and loaded by the first call; nullptr,
// and a message on stderr, if that fails. Empty where there can be none.
std::function<Kernel*()> race_build_of(const std::filesystem::path& source,
                                       const DeviceChoice& device);

// `source` is what the user named, `object` what build_kernel() made of it. Throws KernelError.
KernelUnderTest load_kernel(const std::filesystem::path& source,
                            const std::filesystem::path& object, const DeviceChoice& device,
                            const Schema& schema);

}  // namespace warpfuzz
