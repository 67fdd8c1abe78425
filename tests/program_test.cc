// Whole programs under `warpfuzz run`: correct ones (tests/programs) agree with plain C++ in every
// schedule and give no report, faulty ones are reported at their line, and a process behaves as the
// program says.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/build_kind.h"
#include "tests/command.h"

namespace warpfuzz {
namespace {

using test::warpfuzz_command;
using testing::HasSubstr;

const std::string programs = WARPFUZZ_SOURCE_DIR "/tests/programs/";

ProcessResult run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "run");
  return warpfuzz_command(arguments);
}

// The strictest checks that this build has, of those that do not watch for races.
const std::string checks_of_build = sanitized ? "address" : "none";

// In every schedule, with either kind of checks.
std::vector<std::vector<std::string>> checked_runs() {
  std::vector<std::vector<std::string>> runs;
  for (const std::string& checks : {checks_of_build, std::string("race")}) {
    runs.push_back({"--sanitize", checks, "--schedule", "sequential"});
    runs.push_back({"--sanitize", checks, "--schedule", "reversed"});
    runs.push_back({"--sanitize", checks, "--schedule", "random", "--seed", "1"});
    runs.push_back({"--sanitize", checks, "--schedule", "random", "--seed", "2"});
  }
  return runs;
}

class Correct : public testing::TestWithParam<std::string> {};

TEST_P(Correct, AgreesWithPlainCodeInEverySchedule) {
  for (std::vector<std::string> arguments : checked_runs()) {
    arguments.insert(arguments.begin(), programs + GetParam() + ".cu");
    const ProcessResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << fmt::format("{}", fmt::join(arguments, " "));
    EXPECT_EQ(result.output, GetParam() + ": 0 failed\n");
    EXPECT_EQ(result.errors, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Correct,
                         testing::Values("language", "host_api", "threads", "waiting",
                                         "asynchronous", "collectives", "numbers", "layernorm",
                                         "attention", "training", "selection"),
                         [](const auto& row) { return row.param; });

TEST(Programs, RunWithoutChecksToo) {
  const ProcessResult result = run({programs + "selection.cu", "--sanitize", "none"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "selection: 0 failed\n");
  EXPECT_EQ(result.errors, "");
}

struct FaultRow {
  std::string name;     // of the kernel; its line ends with  // fault: <name>
  std::string message;  // follows "<file>:<line>: "
  enum Seen { by_runtime, by_sanitizers, by_race_mode, by_itself } seen = by_runtime;
};

const FaultRow faults[] = {
    {"off_by_one",
     "out_of_bounds_read: read of 4 bytes outside any buffer: 0 bytes past the end of the 1200 "
     "bytes "
     "from cudaMalloc [block (2,0,0), thread (44,0,0)]",
     FaultRow::by_sanitizers},
    {"global_underflow",
     "out_of_bounds_read: read of 4 bytes outside any buffer: 4 bytes before the 1200 bytes from "
     "cudaMalloc [block (0,0,0), thread (0,0,0)]",
     FaultRow::by_sanitizers},
    {"shared_in_template",
     "out_of_bounds_read: read of 4 bytes outside any buffer: 0 bytes past the end of the shared "
     "variable tile of 256 bytes [block (0,0,0), thread (63,0,0)]",
     FaultRow::by_sanitizers},
    {"dynamic_shared",
     "out_of_bounds_write: write of 4 bytes outside any buffer: 0 bytes past the end of the 384 "
     "bytes "
     "of dynamic shared memory [block (0,0,0), thread (94,0,0)]",
     FaultRow::by_sanitizers},
    {"missing_barrier",
     "data_race: read of element 31 of shared array tile, not ordered after the write at ",
     FaultRow::by_race_mode},
    {"relaxed_flag",
     "data_race: read of byte 4 of 1200 from cudaMalloc, not ordered after the write at ",
     FaultRow::by_race_mode},
    {"divergent_barrier",
     "divergent_barrier: threads of one block wait at different barriers: here and at line "},
    {"early_return",
     "exit_before_barrier: 10 of 96 threads of the block have returned before this barrier [block "
     "(0,0,0), thread (0,0,0)]"},
    {"exited_lane",
     "exited_lane: a shuffle of lane 6 reads from lane 22, which has returned [block (0,0,0), "
     "thread "
     "(70,0,0)]"},
    {"partial_warp",
     "exited_lane: a shuffle of lane 0 reads from lane 16, which the block does not have [block "
     "(0,0,0), thread (64,0,0)]"},
    {"unguarded_tail",
     "out_of_bounds_read: read of 4 bytes outside any buffer: 0 bytes past the end",
     FaultRow::by_sanitizers},
    {"index_overflow", "undefined_behavior: signed integer overflow in a multiplication",
     FaultRow::by_sanitizers},
    {"null_pointer", "wild_access: write to unmapped memory [block (0,0,0), thread (3,0,0)]"},
    {"endless", "time_limit: the kernel does not end within the time limit"},
    {"warp_deadlock",
     "deadlock: lanes 0x0000ffff of a warp wait here for lanes 0xffff0000, which wait elsewhere "
     "[block (0,0,0), thread (0,0,0)]"},
    {"assertion",
     "undefined_behavior: assertion failed: !Faulty || threadIdx.x < 70 [block (0,0,0), thread "
     "(70,0,0)]"},
    {"matrix_alignment", "misaligned_access: access to an address that is not a multiple of 32"},
    {"freed_memory",
     "out_of_bounds_read: read of 4 bytes outside any buffer: inside the 384 bytes from "
     "cudaMalloc, "
     "which were freed [block (0,0,0), thread (0,0,0)]",
     FaultRow::by_sanitizers},
    {"host_overflow",
     "out_of_bounds_read: a copy or fill of 260 bytes leaves its buffer [host code]"},
    {"barrier_without_wait",
     "data_race: read of element 95 of shared array tile, not ordered after the write at ",
     FaultRow::by_race_mode},
    {"barrier_of_too_many",
     "deadlock: 96 of 96 threads wait here for a barrier that lacks 1 of 97 arrivals [block "
     "(0,0,0), "
     "thread (95,0,0)]"},
    {"barrier_not_made",
     "data_race: atomic read of element 0 of shared array barrier, not ordered after the write at ",
     FaultRow::by_race_mode},
    {"barrier_left_alone",
     "deadlock: 90 of 96 threads wait here for a barrier that lacks 6 of 96 arrivals"},
    {"copy_read_early",
     "data_race: read of element 0 of shared array tile, not ordered after the write of an "
     "asynchronous copy at ",
     FaultRow::by_race_mode},
    {"copy_not_committed",
     "data_race: read of element 0 of shared array tile, not ordered after the write of an "
     "asynchronous copy at ",
     FaultRow::by_race_mode},
    {"copy_of_other_thread",
     "data_race: read of element 0 of shared array tile, not ordered after the write of an "
     "asynchronous copy at ",
     FaultRow::by_race_mode},
    {"copy_into_stage_in_use",
     "data_race: write of an asynchronous copy of element 0 of shared array stage, not ordered "
     "after the read at ",
     FaultRow::by_race_mode},
    {"copy_misaligned",
     "misaligned_access: access to an address that is not a multiple of 16 [block (0,0,0), thread "
     "(0,0,0)]"},
    {"copy_out_of_bounds",
     "out_of_bounds_write: write of 16 bytes outside any buffer: 0 bytes past the end of the "
     "shared "
     "variable tile of 384 bytes [block (0,0,0), thread (24,0,0)]",
     FaultRow::by_sanitizers},
    {"event_missing",
     "data_race: read of byte 0 of 512 from cudaMalloc, not ordered after the write at ",
     FaultRow::by_race_mode},
    {"event_too_early",
     "data_race: read of byte 0 of 512 from cudaMalloc, not ordered after the write at ",
     FaultRow::by_race_mode},
    {"default_stream_does_not_wait",
     "data_race: read by a copy of byte 0 of 512 from cudaMalloc, not ordered after the write at ",
     FaultRow::by_race_mode},
    {"fill_meets_kernel",
     "data_race: read by a copy of byte 0 of 512 from cudaMalloc, not ordered after the write by a "
     "copy or fill at ",
     FaultRow::by_race_mode},
    {"result_read_early",
     "data_race: read on the host of byte 12 of 512 from cudaMallocHost, not ordered after the "
     "write "
     "by "
     "a copy or fill at ",
     FaultRow::by_race_mode},
    {"source_overwritten",
     "data_race: write on the host of byte 20 of 512 from cudaMallocHost, not ordered after the "
     "read "
     "by "
     "a copy at ",
     FaultRow::by_race_mode},
    {"managed_without_waiting",
     "data_race: read on the host of byte 36 of 512 from cudaMallocManaged, not ordered after the "
     "write "
     "at ",
     FaultRow::by_race_mode},
    {"tree_power_of_two", "not so: run(kernel, 96, 96)[0] == sum", FaultRow::by_itself},
    {"dropped_tail", "not so: run(kernel, 50, 32)[95] == sum", FaultRow::by_itself},
};

// The file with the fault and its line.
std::pair<std::string, int> position_of(const std::string& fault) {
  for (const char* name : {"faults.cu", "async_faults.cu", "stream_faults.cu"}) {
    std::ifstream file(programs + name);
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
      if (line.ends_with("// fault: " + fault)) return {name, number};
    }
  }
  ADD_FAILURE() << "no line ends with // fault: " << fault;
  return {};
}

class Faulty : public testing::TestWithParam<FaultRow> {};

TEST_P(Faulty, IsReportedAtItsLineAndItsTwinIsClean) {
  const FaultRow& row = GetParam();
  if (row.seen == FaultRow::by_sanitizers && !sanitized) GTEST_SKIP() << needs_sanitizers;
  const auto [file, line] = position_of(row.name);
  const auto of = [&, program = programs + file](const std::string& variant,
                                                 std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), program);
    arguments.insert(arguments.end(), {"--time-limit", "1", "--", row.name, variant});
    return run(arguments);
  };
  const std::string checks = row.seen == FaultRow::by_race_mode ? "race" : checks_of_build;
  const ProcessResult faulty = of("faulty", {"--sanitize", checks});
  EXPECT_EQ(faulty.exit_code, 1);
  EXPECT_THAT(row.seen == FaultRow::by_itself ? faulty.output : faulty.errors,
              HasSubstr(fmt::format("{}:{}: {}", file, line, row.message)));
  for (const std::vector<std::string>& arguments : checked_runs()) {
    const ProcessResult twin = of("correct", arguments);
    EXPECT_EQ(twin.exit_code, 0) << fmt::format("{}", fmt::join(arguments, " "));
    EXPECT_EQ(twin.output + twin.errors, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Faulty, testing::ValuesIn(faults),
                         [](const auto& row) { return row.param.name; });

constexpr const char* behavior = R"(#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include "offset.h"
__global__ void k(int* p) {
  if (p != nullptr) p[0] = OFFSET;
  printf("from thread %d\n", threadIdx.x);
}
int main(int argc, char** argv) {
  std::atexit([] { std::puts("at exit"); });
  int* p = nullptr;
  cudaMalloc(&p, 4);
  std::printf("%d arguments, the last is %s\n", argc - 1, argv[argc - 1]);
  const auto is = [&](const char* mode) { return std::strcmp(argv[1], mode) == 0; };
  if (is("launch")) k<<<1, 2>>>(p);
  if (is("exit")) std::exit(7);
  if (is("abort")) std::abort();
  if (is("throw")) throw std::runtime_error("no good");
  if (is("catch")) {
    try {
      throw 1;
    } catch (int) {
      return 9;
    }
  }
  if (is("unnoticed")) k<<<1, 2000>>>(p);
  if (is("thread")) std::thread([&] { k<<<1, 1>>>(p); }).join();
  if (is("read")) return std::getchar() == EOF ? 4 : 5;
  return 3;
}
)";

struct BehaviorRow {
  std::string mode;
  int exit_code;
  std::string output;  // after "... arguments, the last is ..."
  std::string errors;
};
const BehaviorRow behaviors[] = {
    {"return", 3, "at exit\n", ""},
    {"launch", 3, "from thread 0\nfrom thread 1\nat exit\n", ""},
    {"exit", 7, "at exit\n", ""},
    {"abort", 134, "at exit\n", "warpfuzz: the program ended by abort()\n"},
    {"throw", 134, "at exit\n",
     "warpfuzz: the program ended by an exception that nobody caught: no good\n"},
    {"catch", 9, "at exit\n", ""},
    {"unnoticed", 3, "at exit\n",
     "warpfuzz: the program never asked for its last CUDA error: invalid configuration argument\n"},
    {"thread", 3, "at exit\n",
     "warpfuzz: the program never asked for its last CUDA error: launch from a second host "
     "thread\n"},
    {"read", 4, "at exit\n", ""},
};

TEST(Programs, BehaveAsAProcessOfTheirOwn) {
  const test::TemporaryDirectory directory;
  std::ofstream(directory.path() + "/behavior.cu") << behavior;
  std::ofstream(directory.path() + "/offset.h") << "#define OFFSET (BASE + 1)\n";
  for (const BehaviorRow& row : behaviors) {
    const ProcessResult result =
        run({directory.path() + "/behavior.cu", "--sanitize", checks_of_build, "-D", "BASE=2", "-I",
             directory.path(), "--", row.mode, "--flag"});
    EXPECT_EQ(result.exit_code, row.exit_code) << row.mode;
    EXPECT_EQ(result.output, "2 arguments, the last is --flag\n" + row.output) << row.mode;
    EXPECT_EQ(result.errors, row.errors) << row.mode;
  }
}

// Of many allocations, made and freed, each is watched; of too much memory the rest is not, which
// the program's user is told.
TEST(Programs, RaceModeWatchesAllMemoryThatItHasRoomFor) {
  const test::TemporaryDirectory directory;
  const std::string source = directory.path() + "/memory.cu";
  std::ofstream(source) << R"(#include <cstdlib>
__global__ void clash(int* p) { *p = threadIdx.x; }
int main(int, char** argv) {
  int* p = nullptr;
  for (int i = 0; i < 400; ++i) {
    cudaMalloc(&p, 400);
    if (i % 4 == 0) cudaFree(p);
  }
  cudaMalloc(&p, std::atol(argv[1]));
  clash<<<1, 2>>>(p);
}
)";
  const ProcessResult small = run({source, "--sanitize", "race", "--", "4"});
  EXPECT_EQ(small.exit_code, 1);
  EXPECT_THAT(small.errors,
              HasSubstr("memory.cu:2: data_race: write of byte 0 of 4 from cudaMalloc"));
  const ProcessResult large = run({source, "--sanitize", "race", "--", "270000000"});
  EXPECT_EQ(large.exit_code, 0);
  EXPECT_EQ(
      large.errors,
      "warpfuzz: the race mode had no room to watch 270000000 bytes of the program's memory\n");
}

}  // namespace
}  // namespace warpfuzz
