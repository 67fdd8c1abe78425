// Where the parts of this installation lie: schemas, CUDA headers of the CPU device, kernels,
// seeds, the cache of compiled kernels. The root is the source tree that warpfuzz was built from,
// or $WARPFUZZ_ROOT; the cache is $WARPFUZZ_CACHE or <root>/.cache/kernels.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kernels/compile.h"
#include "schemas/schema.h"

namespace warpfuzz {

// A mistake in how warpfuzz was called: exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// Something about this machine or its files: exit code 3.
class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum ExitCode : int {
  exit_clean = 0,
  exit_findings = 1,
  exit_usage = 2,
  exit_environment = 3,
  exit_skipped = 4
};

struct Installation {
  std::filesystem::path root;
  std::filesystem::path cache;

  static Installation find();

  std::filesystem::path schemas() const { return root / "schemas"; }
  std::filesystem::path kernels() const { return root / "kernels"; }
  std::filesystem::path seeds() const { return root / "seeds"; }
  std::filesystem::path crashes() const { return root / "crashes"; }

  // Throws UsageError, naming the operators there are.
  std::shared_ptr<const Schema> schema(const std::string& op) const;
};

// A file of this project named from its root, so that findings travel; others as they are.
std::string project_path(const std::filesystem::path& path);

// As one would type it here: relative inside the current directory.
std::string shown_path(const std::filesystem::path& path);

// What this build compiles kernels with (presets asan, coverage, release).
Instrumentation build_instrumentation();
// "0.1.0 asan", and "clang 19.1.7".
std::string version();
std::string toolchain();

}  // namespace warpfuzz
