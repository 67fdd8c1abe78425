#include "fuzzers/isolated.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <system_error>

#include "fuzzers/errors.h"
#include "fuzzers/installation.h"
#include "kernels/device.h"

namespace warpfuzz {

IsolatedResult run_isolated(const std::function<int()>& work) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  std::fflush(stdout);
  std::fflush(stderr);
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    const int code = run_reporting_errors(work);
    std::fflush(stdout);
    _exit(code);
  }
  close(ends[1]);
  IsolatedResult result;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    result.output.append(buffer.data(), static_cast<size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  result.ending = decode_wait_status(status);
  return result;
}

std::string ask_isolated(const std::function<std::string()>& question) {
  const IsolatedResult asked = run_isolated([&]() -> int {
    const auto tell = [](char kind, std::string_view text) {
      fmt::print("{}{}", kind, text);
      return exit_clean;
    };
    try {
      return tell('a', question());
    } catch (const KernelError& error) {
      return tell('k', error.what());
    } catch (const DeviceUnavailable& error) {
      return tell('d', error.what());
    }
  });
  if (asked.ending.by_signal || asked.ending.code != exit_clean || asked.output.empty()) {
    throw KernelError(
        fmt::format("the process that tried the kernel ended with {}", asked.ending.text()));
  }
  const std::string text = asked.output.substr(1);
  if (asked.output[0] == 'k') throw KernelError(text);
  if (asked.output[0] == 'd') throw DeviceUnavailable(text);
  return text;
}

}  // namespace warpfuzz
