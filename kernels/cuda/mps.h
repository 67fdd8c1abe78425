// NVIDIA's multi-process service for the workers of one campaign: without it several processes on
// one GPU take turns and together are slower than one. Its control daemon runs in directories of
// its own and ends with this object. Workers find it through the environment, which is set here:
// start them after, and use no GPU before.
#pragma once

#include <filesystem>
#include <string>

namespace warpfuzz::cuda {

class Mps {
 public:
  // Empty `problem()` if the daemon runs; else why not, and the caller uses one worker.
  explicit Mps(const std::filesystem::path& directory);
  ~Mps();
  Mps(const Mps&) = delete;
  Mps& operator=(const Mps&) = delete;

  const std::string& problem() const { return problem_; }

 private:
  std::filesystem::path directory_;
  std::string problem_;
};

}  // namespace warpfuzz::cuda
