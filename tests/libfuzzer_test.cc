// The stand-alone <op>_fuzzer binaries behave as libFuzzer users expect, and the command's
// campaigns end, resume and replay as the README says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/campaign_events.h"
#include "tests/command.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;
using test::done_event;
using test::TemporaryDirectory;
using test::warpfuzz_command;
using testing::HasSubstr;

constexpr const char* tail_leak = WARPFUZZ_SOURCE_DIR "/kernels/faulty/softmax_tail_leak.cu";

ProcessResult softmax_fuzzer(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), WARPFUZZ_SOFTMAX_FUZZER);
  return run_process(arguments, std::chrono::minutes(5));
}

std::vector<fs::path> files(const fs::path& directory) {
  std::vector<fs::path> result;
  for (const auto& entry : fs::directory_iterator(directory)) result.push_back(entry.path());
  return result;
}

TEST(OpFuzzer, RunsTheCorrectKernelByDefault) {
  const ProcessResult result = softmax_fuzzer({"-runs=500", "-seed=1"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

TEST(OpFuzzer, StopsAtTheFirstViolationWithAToken) {
  const TemporaryDirectory directory;
  const ProcessResult result =
      softmax_fuzzer({"-runs=5000", "-seed=1", "-artifact_prefix=" + directory.path() + "/",
                      std::string("--kernel=") + tail_leak});
  EXPECT_EQ(result.exit_code, 77) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("DEDUP_TOKEN: CMP-03-softmax-"));
  EXPECT_EQ(files(directory.path()).size(), 1u);
}

TEST(OpFuzzer, LibFuzzersOwnMinimizerStaysOnTheViolation) {
  const TemporaryDirectory directory;
  ASSERT_EQ(softmax_fuzzer({"-runs=5000", "-seed=3", "-artifact_prefix=" + directory.path() + "/",
                            std::string("--kernel=") + tail_leak})
                .exit_code,
            77);
  const fs::path crash = files(directory.path()).at(0);
  const ProcessResult first =
      softmax_fuzzer({crash.string(), std::string("--kernel=") + tail_leak});
  const ProcessResult minimized =
      softmax_fuzzer({"-minimize_crash=1", "-runs=300", "-mutate_depth=1",
                      "-exact_artifact_path=" + directory.path() + "/minimized",
                      std::string("--kernel=") + tail_leak, crash.string()});
  const fs::path result = directory.path() + "/minimized";
  ASSERT_TRUE(fs::exists(result)) << minimized.errors;
  EXPECT_LE(fs::file_size(result), fs::file_size(crash));
  const ProcessResult again =
      softmax_fuzzer({result.string(), std::string("--kernel=") + tail_leak});
  const auto token = [](const std::string& text) {
    const size_t at = text.find("DEDUP_TOKEN:");
    return at == text.npos ? text : text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(token(again.errors), token(first.errors));
}

std::vector<std::string> campaign(const std::string& kernel, const std::string& work,
                                  std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"fuzz",   "softmax", "--kernel", kernel,   "--work", work,
                                        "--json", "--runs",  "3000",     "--seed", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Campaign, EveryLineOfJsonOutputIsAnObject) {
  const TemporaryDirectory work;
  const ProcessResult result = warpfuzz_command(campaign("softmax_tail_leak", work.path()));
  std::istringstream lines(result.output);
  std::vector<std::string> events;
  for (std::string line; std::getline(lines, line);) {
    events.push_back(nlohmann::json::parse(line).at("event"));
  }
  EXPECT_THAT(events, testing::IsSupersetOf({"start", "finding", "done"}));
  EXPECT_EQ(events.back(), "done");
}

TEST(Campaign, SameSeedAndRunsGiveTheSameCorpus) {
  const TemporaryDirectory a, b;
  for (const TemporaryDirectory* work : {&a, &b}) {
    EXPECT_EQ(warpfuzz_command(campaign("softmax", work->path(), {"--no-seeds"})).exit_code, 0);
  }
  std::set<std::string> names[2];
  for (size_t i = 0; const TemporaryDirectory* work : {&a, &b}) {
    for (const fs::path& file : files(work->path() + "/corpus")) names[i].insert(file.filename());
    ++i;
  }
  EXPECT_FALSE(names[0].empty());
  EXPECT_EQ(names[0], names[1]);
}

TEST(Campaign, KeepGoingCollectsEachSignatureOnce) {
  const TemporaryDirectory work;
  const auto done = done_event(warpfuzz_command(
      campaign("softmax_last_dropped", work.path(), {"--keep-going", "--workers", "2"})));
  std::set<std::string> signatures;
  for (const auto& finding : done.at("findings")) signatures.insert(finding.at("signature"));
  EXPECT_GE(signatures.size(), 3u);
  EXPECT_EQ(signatures.size(), done.at("findings").size());
  EXPECT_EQ(files(work.path() + "/findings").size(), signatures.size());
}

TEST(Campaign, KnownFindingsAreTriedFirstAndPutAsideWhenMended) {
  const TemporaryDirectory work;
  EXPECT_EQ(warpfuzz_command(campaign("softmax_tail_leak", work.path())).exit_code, 1);
  const ProcessResult again = warpfuzz_command(campaign("softmax_tail_leak", work.path()));
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_EQ(done_event(again).at("runs"), 0);  // answered by the stored finding
  const ProcessResult mended = warpfuzz_command(campaign("softmax", work.path()));
  EXPECT_EQ(mended.exit_code, 0) << mended.output;
  EXPECT_THAT(mended.output, HasSubstr("no longer fails"));
  EXPECT_EQ(files(work.path() + "/fixed").size(), 1u);
}

TEST(Replay, GivesTheSameGateAndTheSameBits) {
  const TemporaryDirectory work;
  ASSERT_EQ(warpfuzz_command(campaign("softmax_tail_leak", work.path())).exit_code, 1);
  const std::string file = files(work.path() + "/findings").at(0).string();
  const std::string junit = work.path() + "/junit.xml";
  const ProcessResult result = warpfuzz_command({"replay", file, "--json", "--junit", junit});
  EXPECT_EQ(result.exit_code, 1);
  const auto json = nlohmann::json::parse(result.output);
  EXPECT_EQ(json.at("same_gate"), true);
  EXPECT_EQ(json.at("same_outputs"), true);
  std::ifstream stream(junit);
  const std::string xml((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  EXPECT_THAT(xml, HasSubstr("tests=\"1\" failures=\"1\" skipped=\"0\""));
  EXPECT_EQ(warpfuzz_command({"replay", file, "--kernel", "softmax"}).exit_code, 0);
  EXPECT_EQ(warpfuzz_command({"show", file}).exit_code, 0);
  EXPECT_EQ(warpfuzz_command({"minimize", file}).exit_code, 0);
}

// Branches inside one another on the shape and on a value: coverage of the kernel and the constants
// of its source open them one by one, chance does not.
TEST(Campaign, GuidanceOpensNestedBranches) {
  const std::string kernel = WARPFUZZ_SOURCE_DIR "/tests/gpu/puzzles/puzzle_3.cu";
  for (const bool guided : {true, false}) {
    const TemporaryDirectory work;
    std::vector<std::string> arguments = {"fuzz",      "relu",   "--kernel", kernel, "--work",
                                          work.path(), "--json", "--seed",   "1",    "--size-class",
                                          "1",         "--runs", "60000"};
    if (!guided) arguments.push_back("--unguided");
    EXPECT_EQ(warpfuzz_command(arguments).exit_code, guided ? 1 : 0) << guided;
  }
}

// A kernel that ends its process: the case is tried alone, stored and shown; the campaign goes on.
TEST(Campaign, AKernelThatEndsItsProcessIsAFinding) {
  const TemporaryDirectory work;
  const std::string kernel = work.path() + "/suicide.cu";
  std::ofstream(kernel) << R"(#include <signal.h>
#include "warpfuzz_kernel.hpp"
WARPFUZZ_KERNEL("") {
  if (call.input(0).extent(1) == 17) raise(SIGKILL);
  return WF_UNSUPPORTED;
}
)";
  const ProcessResult result =
      warpfuzz_command(campaign(kernel, work.path() + "/work", {"--keep-going"}));
  const auto done = done_event(result);
  std::set<std::string> gates;
  for (const auto& finding : done.at("findings")) gates.insert(finding.at("gate"));
  EXPECT_TRUE(gates.contains("RUN-01")) << result.output;
  EXPECT_TRUE(gates.contains("CMP-03")) << result.output;
}

}  // namespace
}  // namespace warpfuzz
