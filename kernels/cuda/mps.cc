#include "kernels/cuda/mps.h"

#include <fmt/format.h>

#include <cstdlib>
#include <system_error>

#include "kernels/subprocess.h"

namespace warpfuzz::cuda {
namespace {

constexpr const char* pipe_variable = "CUDA_MPS_PIPE_DIRECTORY";
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
  if (std::getenv(pipe_variable) != nullptr) {
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
    setenv(pipe_variable, pipe.c_str(), 1);
    setenv("CUDA_MPS_LOG_DIRECTORY", log.c_str(), 1);
    // The daemon must not inherit a pipe whose end would be waited for.
    problem_ = run_shell(
        "nvidia-cuda-mps-control -d </dev/null >\"$CUDA_MPS_LOG_DIRECTORY/start.log\" 2>&1");
  } catch (const std::system_error& error) {
    problem_ = error.what();
  }
  if (problem_.empty()) return;
  problem_ = fmt::format("no multi-process service ({}): one worker per GPU", problem_);
  unsetenv(pipe_variable);
  unsetenv("CUDA_MPS_LOG_DIRECTORY");
}

Mps::~Mps() {
  if (!problem_.empty()) return;
  try {
    run_shell("echo quit | nvidia-cuda-mps-control >/dev/null 2>&1");
  } catch (const std::system_error&) {
  }
  unsetenv(pipe_variable);
  unsetenv("CUDA_MPS_LOG_DIRECTORY");
}

OutsideMps::OutsideMps() {
  const char* directory = std::getenv(pipe_variable);
  if (directory != nullptr) directory_ = directory;
  setenv(pipe_variable, "/nonexistent", 1);  // without it the service of the system would be used
}

OutsideMps::~OutsideMps() {
  if (directory_) {
    setenv(pipe_variable, directory_->c_str(), 1);
  } else {
    unsetenv(pipe_variable);
  }
}

}  // namespace warpfuzz::cuda
