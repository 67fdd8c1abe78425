// NVIDIA's multi-process service for the workers of one campaign: without it several processes on
// one GPU take turns and together are slower than one. Its control daemon runs in directories of
// its own and ends with this object. Workers find it through the environment, which is set here:
// start them after, and use no GPU before.
#pragma once

#include <filesystem>
#include <optional>
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

// While it lives, processes that start use the device directly: what a neighbour in the service
// does, a fault above all, does not reach them.
class OutsideMps {
 public:
  OutsideMps();
  ~OutsideMps();
  OutsideMps(const OutsideMps&) = delete;
  OutsideMps& operator=(const OutsideMps&) = delete;

 private:
  std::optional<std::string> directory_;  // where the service was looked for
};

}  // namespace warpfuzz::cuda
