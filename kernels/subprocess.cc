#include "kernels/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

extern char** environ;

namespace warpfuzz {
namespace {

using Clock = std::chrono::steady_clock;

void check(int error, const std::string& what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

// The reading end of a pipe from the program, and what came through it.
class Pipe {
 public:
  Pipe() { check(::pipe2(ends_.data(), O_CLOEXEC) == 0 ? 0 : errno, "pipe"); }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_writer() { close_end(1); }
  bool open() const { return ends_[0] >= 0; }

  // Takes what is there; closes the pipe at its end.
  void drain(std::string& into) {
    std::array<char, 16384> buffer;
    const ssize_t count = ::read(ends_[0], buffer.data(), buffer.size());
    if (count > 0) {
      into.append(buffer.data(), static_cast<size_t>(count));
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      close_end(0);
    }
  }

 private:
  void close_end(size_t i) {
    if (ends_[i] >= 0) ::close(ends_[i]);
    ends_[i] = -1;
  }
  std::array<int, 2> ends_ = {-1, -1};
};

class SpawnSettings {
 public:
  SpawnSettings(const Pipe& output, const Pipe& errors) {
    check(::posix_spawn_file_actions_init(&actions_), "posix_spawn_file_actions_init");
    check(::posix_spawnattr_init(&attributes_), "posix_spawnattr_init");
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, output.writer(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, errors.writer(), STDERR_FILENO);
    // A process group of its own, so that a timeout reaches the program's children; and default
    // signals, whatever a fuzzing engine has done to ours.
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  pid_t spawn(const std::vector<std::string>& arguments) const {
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    pid_t pid = 0;
    check(::posix_spawnp(&pid, argv[0], &actions_, &attributes_, argv.data(), environ),
          "cannot run " + arguments[0]);
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) check(errno, "waitpid");
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments,
                          std::chrono::milliseconds time_limit) {
  Pipe output, errors;
  const pid_t pid = SpawnSettings(output, errors).spawn(arguments);
  output.close_writer();
  errors.close_writer();

  ProcessResult result;
  const Clock::time_point deadline = Clock::now() + time_limit;
  while (output.open() || errors.open()) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) {
      result.timed_out = true;
      ::kill(-pid, SIGKILL);
      break;
    }
    // poll ignores a negative descriptor: a pipe that has ended.
    std::array<pollfd, 2> ready = {{{output.reader(), POLLIN, 0}, {errors.reader(), POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), static_cast<int>(left.count())) <= 0) continue;
    if (ready[0].revents != 0) output.drain(result.output);
    if (ready[1].revents != 0) errors.drain(result.errors);
  }
  result.exit_code = wait_for(pid);
  return result;
}

}  // namespace warpfuzz
