// A campaign goes on where workers cannot start, hang or lose their executable, and says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/campaign_events.h"
#include "tests/command.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;
using test::done_event;
using test::TemporaryDirectory;
using test::warpfuzz_command;
using testing::HasSubstr;

// A kernel whose object runs `at_load` with `loads`, the number of earlier loads, and whose process
// dies of some calls.
std::string fragile_kernel(const TemporaryDirectory& directory, const std::string& at_load) {
  const std::string file = directory.path() + "/fragile.cu";
  std::ofstream(file) << "#include <fcntl.h>\n#include <signal.h>\n#include <sys/stat.h>\n"
                         "#include <unistd.h>\n#include \"warpfuzz_kernel.hpp\"\n"
                         "static const bool loaded = [] {\n"
                         "  const int log = open(\""
                      << directory.path() << "/loads\", O_CREAT | O_WRONLY | O_APPEND, 0644);\n"
                      << "  struct stat status;\n  fstat(log, &status);\n"
                         "  const long loads = status.st_size;\n"
                         "  if (write(log, \".\", 1) != 1) _exit(9);\n  close(log);\n  "
                      << at_load
                      << "\n  return true;\n}();\n"
                         "WARPFUZZ_KERNEL(\"\") {\n"
                         "  if (call.input(0).extent(1) == 17) raise(SIGKILL);\n"
                         "  return WF_UNSUPPORTED;\n}\n";
  return file;
}

std::vector<std::string> campaign(const std::string& kernel, const TemporaryDirectory& directory,
                                  std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {
      "fuzz",   "softmax",    "--kernel",    kernel,   "--work", directory.path() + "/work",
      "--json", "--runs",     "1500",        "--seed", "1",      "--time",
      "120s",   "--no-seeds", "--keep-going"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Supervision, TheExecutableMayBeReplacedMeanwhile) {
  const TemporaryDirectory directory;
  const std::string copy = directory.path() + "/warpfuzz";
  fs::copy_file(WARPFUZZ_COMMAND, copy);
  std::vector<std::string> arguments =
      campaign(fragile_kernel(directory, "if (loads == 0) unlink(\"" + copy + "\");"), directory);
  arguments.insert(arguments.begin(), copy);
  const ProcessResult result = run_process(arguments, std::chrono::minutes(5));
  EXPECT_FALSE(fs::exists(copy));
  EXPECT_EQ(result.exit_code, 1) << result.errors;
  const auto done = done_event(result);
  EXPECT_GE(done.at("runs"), 1500);
  EXPECT_GT(done.at("restarts"), 0);
}

// The second load is that of the process which tries a case alone, the third a worker's.
TEST(Supervision, AWorkerThatCannotStartIsTriedAgain) {
  const TemporaryDirectory directory;
  const ProcessResult result = warpfuzz_command(
      campaign(fragile_kernel(directory, "if (loads == 1 || loads == 2) _exit(3);"), directory));
  EXPECT_EQ(result.exit_code, 1) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("worker 0 could not start (exit code 3): trying again"));
  EXPECT_GE(done_event(result).at("runs"), 1500);
}

TEST(Supervision, AWorkerThatHangsAtItsStartIsReplaced) {
  const TemporaryDirectory directory;
  const ProcessResult result =
      warpfuzz_command(campaign(fragile_kernel(directory, "if (loads == 0) pause();"), directory,
                                {"--worker-timeout", "2s"}));
  EXPECT_EQ(result.exit_code, 1) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("worker 0 has not finished a run for 2 s: ending it"));
  EXPECT_GE(done_event(result).at("runs"), 1500);
}

TEST(Supervision, WorkersThatNeverStartAreAnError) {
  const TemporaryDirectory directory;
  const ProcessResult result =
      warpfuzz_command(campaign(fragile_kernel(directory, "_exit(5);"), directory));
  EXPECT_EQ(result.exit_code, 3) << result.output;
  EXPECT_THAT(result.errors, HasSubstr("worker 0 dies (exit code 5) before its first case"));
}

}  // namespace
}  // namespace warpfuzz
