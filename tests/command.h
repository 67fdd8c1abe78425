// Runs the warpfuzz command of this build, for end-to-end tests.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/subprocess.h"

namespace warpfuzz::test {

inline ProcessResult warpfuzz_command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), WARPFUZZ_COMMAND);
  return run_process(arguments, std::chrono::minutes(10));
}

// A directory that is removed at the end of its scope.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    path_ = (std::filesystem::temp_directory_path() / "warpfuzz-test-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot create " + path_);
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace warpfuzz::test
