#include "fuzzers/kernel_under_test.h"

#include <fmt/format.h>

#include <fstream>

#include "fuzzers/isolated.h"
#include "fuzzers/manifest.h"
#include "kernels/content_hash.h"
#include "kernels/cuda/compile_cuda.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/module_manifest.h"
#include "kernels/cuda/session.h"
#include "kernels/simt/program.h"
#include "kernels/source_constants.h"

namespace warpfuzz {

namespace fs = std::filesystem;

bool is_module(const fs::path& kernel) { return kernel.extension() == ".json"; }

fs::path find_kernel(const Installation& installation, const std::string& kernel) {
  const fs::path path(kernel);
  if (path.extension() == ".ptx" || path.extension() == ".cubin") {
    throw UsageError(fmt::format(
        "--kernel {}: a {} file does not say how to launch it; give the manifest that does, a "
        ".json file (kernels/cuda/PTX_KERNELS.md)",
        kernel, path.extension().string().substr(1)));
  }
  if (path.extension() == ".cu" || path.extension() == ".so" || is_module(path)) {
    if (fs::is_regular_file(path)) return fs::absolute(path);
    // Paths of this project also work from other directories.
    if (path.is_relative() && fs::is_regular_file(installation.root / path)) {
      return installation.root / path;
    }
    throw UsageError(fmt::format("no such kernel file: {}", kernel));
  }
  for (const ManifestEntry& entry : load_manifest(installation)) {
    if (entry.name == kernel) return entry.source;
  }
  throw UsageError(fmt::format(
      "unknown kernel '{}': give a .cu file, a .so file, the manifest of a PTX or cubin "
      "kernel (.json), or a name that `warpfuzz list` prints",
      kernel));
}

CompileRequest compile_request(const Installation& installation, const fs::path& source,
                               const Instrumentation& instrumentation) {
  CompileRequest request;
  request.source = source;
  request.instrumentation = instrumentation;
  request.cache_directory = installation.cache;
  request.include_directory = installation.kernels() / "simt/include";
  request.kernel_directory = installation.kernels();
  return request;
}

namespace {

fs::path build_race_kernel(const fs::path& source) {
  return compile_for_cpu(compile_request(Installation::find(), source, race_instrumentation));
}

bool has_race_build(const fs::path& source, const DeviceChoice& device) {
  return !device.cuda && source.extension() == ".cu";
}

std::unique_ptr<Kernel> load_race_build(const fs::path& source) {
  try {
    return make_cpu_device()->load(build_race_kernel(source), nullptr);
  } catch (const std::exception& error) {
    fmt::print(stderr, "warpfuzz: no race checks: {}\n", error.what());
    return nullptr;
  }
}

// What a reproducer knows its kernel by.
std::string source_hash(const fs::path& source, const std::string& content) {
  ContentHash hash;
  hash.add(content);
  if (is_module(source)) {
    hash.add(cuda::read_bounded(cuda::module_of(source), cuda::max_module_bytes));
  }
  return hash.hex();
}

}  // namespace

fs::path build_kernel(const Installation& installation, const fs::path& kernel,
                      const DeviceChoice& device, const Instrumentation& instrumentation) {
  if (kernel.extension() == ".so") return kernel;
  if (is_module(kernel)) {
    if (device.cuda) return kernel;
    throw UsageError(fmt::format(
        "--kernel {}: PTX and cubin kernels run on a GPU only; give --device cuda, or the kernel's "
        "source",
        kernel.string()));
  }
  if (device.cuda) {
    cuda::CompileRequest request;
    request.source = kernel;
    request.cache_directory = installation.cache;
    request.kernel_directory = installation.kernels();
    request.architecture = ask_isolated([&] { return cuda::architecture_of(device.index); });
    request.device_coverage = request.host_coverage = instrumentation.coverage;
    return cuda::compile_for_cuda(request);
  }
  return compile_for_cpu(compile_request(installation, kernel, instrumentation));
}

const BuildMode& find_build_mode(const std::string& name) {
  std::string names;
  for (const BuildMode& mode : build_modes()) {
    if (mode.name != name) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", mode.name);
    } else if (mode.needs_asan && !address_sanitizer_present()) {
      throw UsageError(fmt::format(
          "--sanitize {}: this build has no AddressSanitizer; use WARPFUZZ_PRESET=asan", name));
    } else {
      return mode;
    }
  }
  throw UsageError(fmt::format("--sanitize {}: expected one of {}", name, names));
}

KernelUnderTest load_kernel(const fs::path& source, const fs::path& object,
                            const DeviceChoice& device, const Schema& schema) {
  KernelUnderTest result;
  result.device = device.open();
  result.kernel = result.device->load(object, &schema);
  result.identity.name = source.stem().string();
  result.identity.path = project_path(source);
  std::ifstream stream(source, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(stream)),
                            std::istreambuf_iterator<char>());
  result.identity.content_hash = source_hash(source, content);
  if (source.extension() == ".cu") result.constants = integer_constants(content);
  if (is_module(source)) result.constants = cuda::compared_constants(*result.kernel);
  result.race_build = race_build_of(source, device);
  return result;
}

void check_module(const fs::path& kernel, const DeviceChoice& device, const Schema& schema) {
  if (!is_module(kernel)) return;
  ask_isolated([&] {
    device.open()->load(kernel, &schema);
    return std::string();
  });
}

std::future<void> prebuild_race_kernel(const fs::path& source, const DeviceChoice& device) {
  if (!has_race_build(source, device)) return {};
  return std::async(std::launch::async, [source] {
    try {
      build_race_kernel(source);
    } catch (const std::exception&) {
    }
  });
}

std::function<Kernel*()> race_build_of(const fs::path& source, const DeviceChoice& device) {
  if (!has_race_build(source, device)) return {};
  return [source, loaded = std::make_shared<std::optional<std::unique_ptr<Kernel>>>()] {
    if (!*loaded) *loaded = load_race_build(source);
    return (*loaded)->get();
  };
}

}  // namespace warpfuzz
