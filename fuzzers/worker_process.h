// A child process that runs this executable (its libFuzzer driver or a command), its output going
// to a log file. The child ends when its parent does. Owns the process: the destructor kills and
// reaps it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warpfuzz {

// How a process ended.
struct Ending {
  bool by_signal = false;
  int code = 0;              // exit code or signal number
  std::string text() const;  // "exit code 77", "signal 11 (Segmentation fault)"
};

// From waitpid's status.
Ending decode_wait_status(int status);

class WorkerProcess {
 public:
  // Throws std::system_error.
  WorkerProcess(const std::vector<std::string>& arguments, const std::filesystem::path& log);
  // The child is a fork that does `work` instead of starting the executable again: for callers
  // without threads. Exceptions of `work` become messages and exit codes (errors.h).
  WorkerProcess(const std::function<int()>& work, const std::filesystem::path& log);
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;

  // Nothing while it runs; keeps the answer once it has ended.
  std::optional<Ending> poll();
  Ending wait();
  // Kills it if it has not ended by then; whether it had.
  bool wait_or_kill(std::chrono::milliseconds limit);
  void signal(int number);

 private:
  void start(const std::filesystem::path& log, const std::function<int()>& work);

  pid_t pid_ = -1;
  std::optional<Ending> ending_;
};

}  // namespace warpfuzz
