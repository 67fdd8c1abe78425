#include "fuzzers/installation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

namespace warpfuzz {

namespace fs = std::filesystem;

Installation Installation::find() {
  Installation installation;
  const char* root = std::getenv("WARPFUZZ_ROOT");
  installation.root = root != nullptr ? fs::path(root) : fs::path(WARPFUZZ_SOURCE_DIR);
  const char* cache = std::getenv("WARPFUZZ_CACHE");
  installation.cache = cache != nullptr ? fs::path(cache) : installation.root / ".cache/kernels";
  if (!fs::is_directory(installation.schemas())) {
    throw EnvironmentError(fmt::format(
        "no schemas in {}: set WARPFUZZ_ROOT to the directory that holds schemas/ and kernels/",
        installation.schemas().string()));
  }
  return installation;
}

std::shared_ptr<const Schema> Installation::schema(const std::string& op) const {
  const fs::path file = schemas() / (op + ".json");
  // The name is part of a path: only a name that is there may be one.
  if (op.find('/') == std::string::npos && fs::is_regular_file(file)) return load_schema(file);
  std::vector<std::string> names;
  for (const auto& schema : load_schemas(schemas())) names.push_back(schema->name);
  throw UsageError(fmt::format("unknown operator '{}': there are {}", op, fmt::join(names, ", ")));
}

std::string project_path(const fs::path& path) {
  const fs::path inside = path.lexically_relative(Installation::find().root);
  const bool ours = !inside.empty() && *inside.begin() != "..";
  return (ours ? inside : path).string();
}

std::string shown_path(const fs::path& path) {
  std::error_code ignored;
  const fs::path relative = path.lexically_relative(fs::current_path(ignored));
  return (relative.empty() || relative.string().starts_with("..")) ? path.string()
                                                                   : relative.string();
}

Instrumentation build_instrumentation() {
  return {.coverage = WARPFUZZ_KERNEL_COVERAGE,
          .address = WARPFUZZ_KERNEL_SANITIZE,
          .undefined = WARPFUZZ_KERNEL_SANITIZE,
          .optimize = !WARPFUZZ_KERNEL_SANITIZE};
}

std::string version() { return WARPFUZZ_VERSION " " WARPFUZZ_BUILD_NAME; }
std::string toolchain() {
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
}

}  // namespace warpfuzz
