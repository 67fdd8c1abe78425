#include "fuzzers/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "fuzzers/errors.h"

namespace warpfuzz {
Ending decode_wait_status(int status) {
  if (WIFSIGNALED(status)) return {.by_signal = true, .code = WTERMSIG(status)};
  return {.by_signal = false, .code = WEXITSTATUS(status)};
}

std::string Ending::text() const {
  return by_signal ? fmt::format("signal {} ({})", code, strsignal(code))
                   : fmt::format("exit code {}", code);
}

WorkerProcess::WorkerProcess(const std::vector<std::string>& arguments,
                             const std::filesystem::path& log) {
  // By this name it starts where the file has been replaced or removed as well.
  static constexpr const char* executable = "/proc/self/exe";
  std::vector<char*> argv = {const_cast<char*>(executable)};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  start(log, [&] {
    execv(executable, argv.data());
    std::perror("warpfuzz: cannot start a worker");
    return 127;
  });
}

WorkerProcess::WorkerProcess(const std::function<int()>& work, const std::filesystem::path& log) {
  std::fflush(stdout);
  std::fflush(stderr);
  start(log, [&] {
    // What the parent does about signals is not for the child.
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    const int code = run_reporting_errors(work);
    std::fflush(stdout);
    return code;
  });
}

void WorkerProcess::start(const std::filesystem::path& log, const std::function<int()>& work) {
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (output < 0) throw std::system_error(errno, std::generic_category(), log.string());
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) {
    const int error = errno;
    close(output);
    throw std::system_error(error, std::generic_category(), "cannot start a worker");
  }
  if (pid_ == 0) {
    // Its own group: Ctrl-C reaches the campaign alone, which then stops its workers in order.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    _exit(work());
  }
  close(output);
}

WorkerProcess::~WorkerProcess() {
  if (pid_ < 0 || poll()) return;
  signal(SIGKILL);
  wait();
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), ending_(other.ending_) {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(ending_, other.ending_);
  return *this;
}

std::optional<Ending> WorkerProcess::poll() {
  int status = 0;
  if (!ending_ && waitpid(pid_, &status, WNOHANG) == pid_) ending_ = decode_wait_status(status);
  return ending_;
}

Ending WorkerProcess::wait() {
  int status = 0;
  if (!ending_ && waitpid(pid_, &status, 0) == pid_) ending_ = decode_wait_status(status);
  return *ending_;
}

bool WorkerProcess::wait_or_kill(std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds pause{2};
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!poll() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(pause);
  if (ending_) return true;
  signal(SIGKILL);
  wait();
  return false;
}

void WorkerProcess::signal(int number) {
  if (!ending_) kill(pid_, number);
}

}  // namespace warpfuzz
