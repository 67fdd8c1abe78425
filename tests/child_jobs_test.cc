// Lists of child processes: results in full, limits kept, nothing left behind.
#include "fuzzers/child_jobs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "fuzzers/installation.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;

struct Seen {
  std::vector<JobResult> results;
  std::vector<fs::path> directories;
};

ChildJob job(Seen& seen, std::function<int()> work, double time_limit = 60) {
  ChildJob job;
  job.title = "work";
  job.time_limit = std::chrono::duration<double>(time_limit);
  job.start = [&seen, work = std::move(work)](const fs::path& directory, const fs::path& log) {
    seen.directories.push_back(directory);
    std::ofstream(directory / "file") << "something to remove";
    return WorkerProcess(work, log);
  };
  job.finish = [&seen](const JobResult& result) { seen.results.push_back(result); };
  return job;
}

int sleep_for_long() {
  sleep(60);
  return 0;
}

TEST(ChildJobs, HandOnWhatTheyPrintedAndHowTheyEnded) {
  Seen seen;
  const bool complete =
      run_child_jobs({job(seen, [] { return fmt::print("hello\n"), 7; }), job(seen,
                                                                              [] {
                                                                                raise(SIGKILL);
                                                                                return 0;
                                                                              })},
                     1, "test");
  EXPECT_TRUE(complete);
  ASSERT_EQ(seen.results.size(), 2u);
  EXPECT_EQ(seen.results[0].output, "hello\n");
  EXPECT_EQ(seen.results[0].ending.code, 7);
  EXPECT_FALSE(seen.results[0].timed_out);
  EXPECT_TRUE(seen.results[1].ending.by_signal);
  for (const fs::path& directory : seen.directories) EXPECT_FALSE(fs::exists(directory));
}

TEST(ChildJobs, TellWhyTheyFailed) {
  Seen seen;
  EXPECT_TRUE(
      run_child_jobs({job(seen, []() -> int { throw UsageError("no such thing"); })}, 1, "test"));
  EXPECT_EQ(seen.results.at(0).output, "warpfuzz: no such thing\n");
  EXPECT_EQ(seen.results.at(0).ending.code, exit_usage);
}

TEST(ChildJobs, AreEndedAtTheirLimit) {
  Seen seen;
  EXPECT_TRUE(run_child_jobs({job(seen, sleep_for_long, 0.1)}, 1, "test"));
  EXPECT_TRUE(seen.results.at(0).timed_out);
  EXPECT_LT(seen.results.at(0).seconds, 30);
}

TEST(ChildJobs, EndWithAnInterruptAndLeaveNothing) {
  Seen seen;
  std::vector<ChildJob> jobs = {job(seen, sleep_for_long), job(seen, [] { return 0; }),
                                job(seen, sleep_for_long)};
  jobs[1].finish = [](const JobResult&) { raise(SIGTERM); };
  EXPECT_FALSE(run_child_jobs(std::move(jobs), 2, "test"));
  EXPECT_TRUE(seen.results.empty());
  for (const fs::path& directory : seen.directories) EXPECT_FALSE(fs::exists(directory));
}

TEST(WorkerProcess, IsKilledWhereItHangs) {
  const fs::path log = fs::path(testing::TempDir()) / fmt::format("hangs-{}.log", getpid());
  WorkerProcess hangs([] { return pause(); }, log);
  EXPECT_FALSE(hangs.wait_or_kill(std::chrono::milliseconds(50)));
  EXPECT_TRUE(hangs.wait().by_signal);
  EXPECT_EQ(hangs.wait().code, SIGKILL);
  WorkerProcess ends([] { return 7; }, log);
  EXPECT_TRUE(ends.wait_or_kill(std::chrono::minutes(1)));
  EXPECT_EQ(ends.wait().code, 7);
  fs::remove(log);
}

}  // namespace
}  // namespace warpfuzz
