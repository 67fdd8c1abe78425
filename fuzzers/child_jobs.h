// A list of child processes, a few at once, each with a directory of its own that is removed
// afterwards. One thread: jobs start and finish in the caller's.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fuzzers/worker_process.h"

namespace warpfuzz {

struct JobResult {
  Ending ending;
  bool timed_out = false;  // and was ended
  double seconds = 0;      // from the start of the process to its end
  std::string output;      // stdout and stderr together
};

struct ChildJob {
  std::string title;  // for the line of progress
  // `directory` is empty and the job's own; what the child prints must go to `log`.
  std::function<WorkerProcess(const std::filesystem::path& directory,
                              const std::filesystem::path& log)>
      start;
  std::chrono::duration<double> time_limit{0};
  std::function<void(const JobResult&)> finish;  // the directory is still there
};

// In order, at most `at_once` at a time; says on stderr how far it is. SIGINT and SIGTERM end the
// children; then it returns false, and the jobs that had not finished never will.
bool run_child_jobs(std::vector<ChildJob> jobs, size_t at_once, const std::string& what);

}  // namespace warpfuzz
