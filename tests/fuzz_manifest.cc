// Any text: the manifest of a PTX kernel is read or refused with a message that names the file.
// What is read is complete.
#include <cstdint>
#include <string>

#include "kernels/cuda/module_manifest.h"
#include "kernels/device.h"
#include "schemas/check.h"
#include "schemas/schema.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfuzz;
  // Beside the modules that the seeds name.
  static constexpr const char* file = WARPFUZZ_SOURCE_DIR "/kernels/ptx/fuzz.json";
  static const auto schema = load_schema(WARPFUZZ_SOURCE_DIR "/schemas/relu.json");
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const cuda::ModuleManifest manifest = cuda::parse_module_manifest(text, file, *schema);
    WARPFUZZ_CHECK(!manifest.module.empty() && !manifest.launches.empty(), "incomplete: {}", text);
    for (const cuda::LaunchSpec& launch : manifest.launches) {
      WARPFUZZ_CHECK(!launch.entry.empty(), "no entry: {}", text);
      for (const cuda::Argument& argument : launch.arguments) {
        WARPFUZZ_CHECK(!name(argument.type).empty() && bytes(argument.type) > 0, "{}", text);
      }
    }
  } catch (const KernelError& error) {
    WARPFUZZ_CHECK(std::string(error.what()).starts_with(file), "{}", error.what());
  }
  return 0;
}
