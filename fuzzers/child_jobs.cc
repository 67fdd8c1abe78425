#include "fuzzers/child_jobs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <list>
#include <thread>

#include "fuzzers/interrupt.h"
#include "fuzzers/temporary_directory.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto poll_interval = std::chrono::milliseconds(2);
// A campaign waits up to ten seconds for its own workers.
constexpr auto stop_patience = std::chrono::seconds(15);
constexpr size_t plain_lines = 10;  // of progress, where there is no terminal

std::string read_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

class Progress {
 public:
  Progress(std::string what, size_t total) : what_(std::move(what)), total_(total) {}
  ~Progress() {
    if (terminal_) fmt::print(stderr, "\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void finished(const std::string& title) {
    ++done_;
    if (terminal_) {
      fmt::print(stderr, "\r\033[K{} {}/{}: {}", what_, done_, total_, title);
      std::fflush(stderr);
    } else if (done_ * plain_lines / total_ != (done_ - 1) * plain_lines / total_) {
      fmt::print(stderr, "{} {}/{}\n", what_, done_, total_);
    }
  }

 private:
  std::string what_;
  size_t total_;
  size_t done_ = 0;
  bool terminal_ = isatty(STDERR_FILENO) != 0;
};

class RunningJob {
 public:
  explicit RunningJob(ChildJob& job)
      : job_(job), process_(job.start(make_work(), log())), start_(Clock::now()) {}
  // In order first: a campaign that is killed leaves its workers to write on for a moment.
  ~RunningJob() {
    process_.signal(SIGTERM);
    const Clock::time_point deadline = Clock::now() + stop_patience;
    while (!process_.poll() && Clock::now() < deadline) std::this_thread::sleep_for(poll_interval);
  }
  RunningJob(const RunningJob&) = delete;
  RunningJob& operator=(const RunningJob&) = delete;

  void tell_to_stop() { process_.signal(SIGTERM); }

  // Whether it is over; then its result has been handed on.
  bool poll() {
    const std::chrono::duration<double> age = Clock::now() - start_;
    const std::optional<Ending> ending = process_.poll();
    if (ending) {
      job_.finish({*ending, timed_out_, age.count(), read_text(log())});
      return true;
    }
    if (!timed_out_ && age > job_.time_limit) {
      timed_out_ = true;
      process_.signal(SIGTERM);
    }
    if (age > job_.time_limit + stop_patience) process_.signal(SIGKILL);
    return false;
  }
  const std::string& title() const { return job_.title; }

 private:
  fs::path log() const { return fs::path(directory_.path()) / "log"; }
  fs::path make_work() const {
    const fs::path work = fs::path(directory_.path()) / "work";
    fs::create_directory(work);
    return work;
  }

  TemporaryDirectory directory_;  // outlives the process
  ChildJob& job_;
  WorkerProcess process_;
  Clock::time_point start_;
  bool timed_out_ = false;
};

}  // namespace

bool run_child_jobs(std::vector<ChildJob> jobs, size_t at_once, const std::string& what) {
  const InterruptGuard guard;
  Progress progress(what, jobs.size());
  std::list<RunningJob> running;
  for (auto next = jobs.begin(); next != jobs.end() || !running.empty();) {
    if (interrupted()) {
      for (RunningJob& job : running) job.tell_to_stop();
      running.clear();
      return false;
    }
    while (running.size() < at_once && next != jobs.end()) running.emplace_back(*next++);
    for (auto job = running.begin(); job != running.end();) {
      if (job->poll()) {
        progress.finished(job->title());
        job = running.erase(job);
      } else {
        ++job;
      }
    }
    std::this_thread::sleep_for(poll_interval);
  }
  return true;
}

}  // namespace warpfuzz
