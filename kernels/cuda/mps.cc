#include "kernels/cuda/mps.h"

#include <fmt/format.h>

#include <cstdlib>
#include <system_error>

#include "kernels/subprocess.h"

namespace warpfuzz::cuda {
namespace {

constexpr size_t longest_pipe_directory = 80;  // a socket's name has at most 107 characters
constexpr std::chrono::seconds start_limit{20};

std::string run_shell(const std::string& command) {
  const ProcessResult result = run_process({"sh", "-c", command}, start_limit);
  if (result.timed_out) return "does not answer";
  if (result.exit_code == 127) return "nvidia-cuda-mps-control is not installed";
  if (result.exit_code == 0) return "";
  return fmt::format("nvidia-cuda-mps-control ended with code {}", result.exit_code);
}

}  // namespace

Mps::Mps(const std::filesystem::path& directory)
    : directory_(std::filesystem::absolute(directory)) {
  if (std::getenv("CUDA_MPS_PIPE_DIRECTORY") != nullptr) {
    problem_ = "CUDA_MPS_PIPE_DIRECTORY is set: using the service that runs there";
    return;
  }
  const std::filesystem::path pipe = directory_ / "pipe";
  const std::filesystem::path log = directory_ / "log";
  if (pipe.string().size() > longest_pipe_directory) {
    problem_ =
        fmt::format("{}: too long a name for a socket; choose a shorter --work", pipe.string());
    return;
  }
  try {
    std::filesystem::create_directories(pipe);
    std::filesystem::create_directories(log);
    setenv("CUDA_MPS_PIPE_DIRECTORY", pipe.c_str(), 1);
    setenv("CUDA_MPS_LOG_DIRECTORY", log.c_str(), 1);
    // The daemon must not inherit a pipe whose end would be waited for.
    problem_ = run_shell(
        "nvidia-cuda-mps-control -d </dev/null >\"$CUDA_MPS_LOG_DIRECTORY/start.log\" 2>&1");
  } catch (const std::system_error& error) {
    problem_ = error.what();
  }
  if (problem_.empty()) return;
  problem_ = fmt::format("no multi-process service ({}): one worker per GPU", problem_);
  unsetenv("CUDA_MPS_PIPE_DIRECTORY");
  unsetenv("CUDA_MPS_LOG_DIRECTORY");
}

Mps::~Mps() {
  if (!problem_.empty()) return;
  try {
    run_shell("echo quit | nvidia-cuda-mps-control >/dev/null 2>&1");
  } catch (const std::system_error&) {
  }
  unsetenv("CUDA_MPS_PIPE_DIRECTORY");
  unsetenv("CUDA_MPS_LOG_DIRECTORY");
}

}  // namespace warpfuzz::cuda
