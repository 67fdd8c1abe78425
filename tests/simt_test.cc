// The CPU device on small kernels: what CUDA promises must hold, what it forbids must be diagnosed
// at its line, and after every fault the process must be able to run the next kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>

#include "tests/simt_fixture.h"
#include "tests/simt_kernels.h"

namespace warpfuzz {
namespace {

using testing::ElementsAre;

const char* const correct_file = WARPFUZZ_SOURCE_DIR "/tests/simt_kernels.cu";
const char* const faulty_file = WARPFUZZ_SOURCE_DIR "/tests/simt_faulty_kernels.cu";

// The ways to instrument a kernel: as this build does, for the race mode, not at all.
enum Mode { as_built, race_mode, plain };

Kernel& load(const char* file, Mode mode) {
  static std::map<std::pair<const char*, Mode>, std::unique_ptr<Kernel>> loaded;
  std::unique_ptr<Kernel>& kernel = loaded[{file, mode}];
  if (!kernel) {
    kernel = load_source(file, mode == as_built    ? build_instrumentation()
                               : mode == race_mode ? race_instrumentation
                                                   : Instrumentation{false, false, false});
  }
  return *kernel;
}

// The line with the comment "fault: <name>"; 0 if there is none.
int line_of(const std::string& fault_name) {
  std::ifstream file(faulty_file);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.ends_with("// fault: " + fault_name)) return number;
  }
  return 0;
}

struct CorrectRow {
  const char* name;
  SimtKernel kernel;
  int64_t n;
  std::function<float(int i, int n)> expected;  // x[i] is i + 1
  bool reads_unset = false;                     // memory that nobody has written
};

float sum_of(int first, int count, int step = 1) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += static_cast<float>(first + i * step + 1);
  return sum;
}

const CorrectRow correct_rows[] = {
    {"double", kernel_double, 1000, [](int i, int) { return 2.0f * static_cast<float>(i + 1); }},
    {"reverse_block", kernel_reverse_block, 192,
     [](int i, int) { return static_cast<float>(i / 64 * 64 + 63 - i % 64 + 1); }},
    {"dynamic_reverse", kernel_dynamic_reverse, 192,
     [](int i, int) { return static_cast<float>(i / 64 * 64 + 63 - i % 64 + 1); }},
    {"warp_sum", kernel_warp_sum, 96, [](int i, int) { return sum_of(i / 32 * 32, 32); }},
    {"tile_sum", kernel_tile_sum, 64, [](int i, int) { return sum_of(i / 8 * 8, 8); }},
    {"partial_mask", kernel_partial_mask, 64,
     [](int i, int) { return sum_of(i / 32 * 32 + i % 2, 16, 2); }},
    {"votes", kernel_votes, 64, [](int, int) { return 13208306.0f; }},
    {"barrier_count", kernel_barrier_count, 100, [](int, int) { return 1010.0f; }},
    {"spin_lock", kernel_spin_lock, 200, [](int, int n) { return static_cast<float>(n); }},
    {"last_block", kernel_last_block, 500, [](int, int n) { return sum_of(0, n); }},
    {"active_mask", kernel_active_mask, 64, [](int i, int) { return i % 4 == 1 ? 8.0f : 0.0f; }},
    {"cooperative", kernel_cooperative, 160, [](int, int) { return sum_of(0, 5, 32); }},
    {"many_barriers", kernel_many_barriers, 64,
     [](int i, int) { return static_cast<float>(i + 1); }},
    {"unset_shared", kernel_unset_shared, 64, [](int, int) { return NAN; }, true},
    {"device_memory", kernel_device_memory, 77,
     [](int i, int) { return 2.0f * static_cast<float>(i + 1); }},
    {"index_3d", kernel_index_3d, 360,
     [](int i, int) { return static_cast<float>(100 * (i / 30) + i % 30); }},
};

class Correct : public testing::TestWithParam<std::tuple<CorrectRow, Schedule>> {};

TEST_P(Correct, ComputesWhatCudaPromises) {
  const auto& [row, schedule] = GetParam();
  for (uint32_t seed = 0; seed < (schedule == Schedule::random ? 20 : 2); ++seed) {
    VectorCall call(row.kernel, row.n);
    RunOptions options;
    options.schedule = schedule;
    options.schedule_seed = seed;
    // In the race mode too: honest kernels are not accused.
    Kernel& kernel = load(correct_file, seed % 2 == 1 && !row.reads_unset ? race_mode : as_built);
    const RunResult result = call.run(kernel, options);
    ASSERT_EQ(result.status, RunStatus::ok)
        << result.message << (result.faults.empty() ? "" : result.faults[0].message);
    EXPECT_TRUE(call.damage().empty());
    const std::vector<float> output = call.output();
    for (int i = 0; i < row.n; ++i) {
      const float expected = row.expected(i, static_cast<int>(row.n));
      const float found = output[static_cast<size_t>(i)];
      ASSERT_TRUE(std::isnan(expected) ? std::isnan(found) : found == expected)
          << "element " << i << ": " << found << ", expected " << expected;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Simt, Correct,
                         testing::Combine(testing::ValuesIn(correct_rows),
                                          testing::Values(Schedule::sequential, Schedule::reversed,
                                                          Schedule::random)),
                         [](const auto& row) {
                           return std::string(std::get<0>(row.param).name) + "_" +
                                  std::to_string(static_cast<int>(std::get<1>(row.param)));
                         });

struct FaultRow {
  const char* name;  // and of the comment at the line, "" if the fault has no line of its own
  SimtKernel kernel;
  int64_t n;
  FaultKind kind;
  const char* message;
  bool needs_sanitizer = false;
  int thread = -1;  // threadIdx.x of the fault, -1 if any
};

const FaultRow fault_rows[] = {
    {"read_past_end", kernel_read_past_end, 32, FaultKind::out_of_bounds_read,
     "read of 4 bytes outside any buffer", true, 0},
    {"write_before_begin", kernel_write_before_begin, 32, FaultKind::out_of_bounds_write,
     "write of 4 bytes outside any buffer", true, 3},
    {"shared_overflow", kernel_shared_overflow, 64, FaultKind::out_of_bounds_write,
     "write of 4 bytes outside any buffer", true, 63},
    {"dynamic_overflow", kernel_dynamic_overflow, 64, FaultKind::out_of_bounds_write,
     "write of 4 bytes outside any buffer", true, 62},
    {"copy_past_end", kernel_copy_past_end, 32, FaultKind::out_of_bounds_read,
     "a copy or fill of 132 bytes leaves its buffer", true},
    {"signed_overflow", kernel_signed_overflow, 32, FaultKind::undefined_behavior,
     "signed integer overflow in an addition", true, 1},
    {"misaligned", kernel_misaligned, 32, FaultKind::misaligned_access,
     "access to an address that is not a multiple of 4", true, 5},
    {"divergent_barrier", kernel_divergent_barrier, 64, FaultKind::divergent_barrier,
     "threads of one block wait at different barriers: here and at line "},
    {"barrier_against_shuffle", kernel_barrier_against_shuffle, 32, FaultKind::divergent_barrier,
     "16 of 32 threads wait at this barrier, others in a warp function at line "},
    {"exit_before_barrier", kernel_exit_before_barrier, 32, FaultKind::exit_before_barrier,
     "1 of 32 threads of the block have returned before this barrier"},
    {"shuffle_from_exited", kernel_shuffle_from_exited, 20, FaultKind::exited_lane,
     "a shuffle of lane 19 reads from lane 20, which has returned", false, 19},
    {"shuffle_outside_mask", kernel_shuffle_outside_mask, 32, FaultKind::exited_lane,
     "a shuffle of lane 0 reads from lane 9, which is not in the mask", false, 0},
    {"warp_deadlock", kernel_warp_deadlock, 32, FaultKind::deadlock,
     "lanes 0x0000ffff of a warp wait here for lanes 0xffff0000, which wait elsewhere"},
    {"null_write", kernel_null_write, 32, FaultKind::wild_access, "write to unmapped memory", false,
     2},
    {"wild_call", kernel_wild_call, 32, FaultKind::wild_access, "read from unmapped memory"},
    {"", kernel_stack_overflow, 32, FaultKind::wild_access,
     "stack overflow: too large local arrays or recursion"},
    {"endless_loop", kernel_endless_loop, 32, FaultKind::time_limit,
     "the kernel does not end within the time limit"},
    {"endless_yield", kernel_endless_yield, 32, FaultKind::time_limit,
     "the kernel does not end within the time limit"},
    {"host_loop", kernel_host_loop, 32, FaultKind::time_limit,
     "the kernel does not end within the time limit"},
    {"assertion", kernel_assertion, 32, FaultKind::undefined_behavior,
     "assertion failed: y == nullptr", false, 0},
    {"endless_barrier", kernel_endless_barrier, 32, FaultKind::time_limit,
     "the kernel does not end within the time limit"},
    {"endless_shuffle", kernel_endless_shuffle, 32, FaultKind::time_limit,
     "the kernel does not end within the time limit"},
    {"grid_exited_thread", kernel_grid_exited_thread, 128, FaultKind::exit_before_barrier,
     "1 of 32 threads of the block have returned before this grid barrier"},
    {"grid_exited_block", kernel_grid_exited_block, 128, FaultKind::exit_before_barrier,
     "1 of 4 blocks have returned before this grid barrier"},
    {"grid_against_barrier", kernel_grid_against_barrier, 128, FaultKind::divergent_barrier,
     "16 of 32 threads wait at this barrier, others at the grid barrier at line "},
    {"grid_not_cooperative", kernel_grid_not_cooperative, 128, FaultKind::undefined_behavior,
     "grid barrier in a launch that is not cooperative"},
};

class Faulty : public testing::TestWithParam<std::tuple<FaultRow, Mode>> {};

TEST_P(Faulty, IsDiagnosedAtItsLine) {
  const auto& [row, mode] = GetParam();
  if (row.needs_sanitizer && !sanitized) GTEST_SKIP() << needs_sanitizers;
  Kernel& kernel = load(faulty_file, mode);
  RunOptions options;
  options.time_limit = std::chrono::milliseconds(100);
  for (int repetition = 0; repetition < 2; ++repetition) {
    VectorCall call(row.kernel, row.n);
    RunResult result = call.run(kernel, options);
    ASSERT_EQ(result.status, RunStatus::fault) << result.message;
    ASSERT_FALSE(result.faults.empty());
    // What nobody has written is none of these tests' business.
    std::erase_if(result.faults, [](const Fault& fault) {
      return fault.kind == FaultKind::uninitialized_read || fault.kind == FaultKind::data_race;
    });
    ASSERT_FALSE(result.faults.empty());
    kernel.resolve_positions(result.faults);
    const Fault& fault = result.faults[0];
    EXPECT_EQ(name(fault.kind), name(row.kind)) << fault.message;
    EXPECT_THAT(fault.message, testing::StartsWith(row.message));
    if (*row.name != 0) {
      EXPECT_EQ(fault.line, line_of(row.name)) << fault.file;
      EXPECT_THAT(fault.file, testing::EndsWith("simt_faulty_kernels.cu"));
    }
    if (row.thread >= 0) {
      EXPECT_EQ(fault.thread.x, static_cast<uint32_t>(row.thread));
    }
    // The next kernel runs as if nothing had been.
    VectorCall next(kernel_reverse_block, 128);
    EXPECT_EQ(next.run(load(correct_file, mode)).status, RunStatus::ok);
    EXPECT_EQ(next.output()[0], 64.0f);
  }
}

std::vector<std::tuple<FaultRow, Mode>> faults_in_each_mode() {
  std::vector<std::tuple<FaultRow, Mode>> rows;
  for (const FaultRow& row : fault_rows) {
    for (const Mode mode : {as_built, race_mode, plain}) {
      if (mode == as_built || !row.needs_sanitizer) rows.emplace_back(row, mode);
    }
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Simt, Faulty, testing::ValuesIn(faults_in_each_mode()),
                         [](const auto& row) {
                           return "kernel_" +
                                  std::to_string(static_cast<int>(std::get<0>(row.param).kernel)) +
                                  "_" + std::to_string(std::get<1>(row.param));
                         });

TEST(Simt, FaultsAreCapped) {
  if (!sanitized) GTEST_SKIP() << needs_sanitizers;
  VectorCall call(kernel_many_faults, 32);
  const RunResult result = call.run(load(faulty_file, as_built));
  EXPECT_EQ(result.status, RunStatus::fault);
  EXPECT_EQ(result.faults.size(), max_faults);
}

struct LaunchRow {
  SimtKernel kernel;
  const char* message;  // nullptr: the launch is legal
  uint32_t launches = 1;
};

const LaunchRow launch_rows[] = {
    {launch_no_blocks, "invalid configuration argument"},
    {launch_too_many_threads, "invalid configuration argument"},
    {launch_block_z, "invalid configuration argument"},
    {launch_grid_y, "invalid configuration argument"},
    {launch_shared, "invalid argument"},
    {launch_shared_opted_in, nullptr},
    {launch_shared_too_large, "invalid argument", 0},
};

TEST(Simt, LaunchLimitsAreThoseOfCuda) {
  for (const LaunchRow& row : launch_rows) {
    VectorCall call(row.kernel, 32);
    const RunResult result = call.run(load(faulty_file, as_built));
    EXPECT_EQ(result.launches, row.message == nullptr ? row.launches : 0);
    EXPECT_EQ(result.message, row.message != nullptr ? row.message : "") << row.kernel;
    EXPECT_EQ(result.status, row.message != nullptr ? RunStatus::error : RunStatus::ok);
    EXPECT_EQ(result.failed_launches, row.message != nullptr ? row.launches : 0);
  }
}

TEST(Simt, HostCodeThatGivesUpIsAnError) {
  VectorCall exits(kernel_exit, 8);
  EXPECT_EQ(exits.run(load(faulty_file, as_built)).message, "the kernel called exit(3)");
  VectorCall throws(kernel_throw, 8);
  const RunResult result = throws.run(load(faulty_file, as_built));
  EXPECT_EQ(result.status, RunStatus::error);
  EXPECT_EQ(result.message, "the kernel threw: no good");
}

TEST(Simt, SchedulesGiveDifferentInterleavings) {
  auto order = [](Schedule schedule, uint32_t seed) {
    VectorCall call(kernel_thread_order, 8);
    RunOptions options;
    options.schedule = schedule;
    options.schedule_seed = seed;
    EXPECT_EQ(call.run(load(correct_file, as_built), options).status, RunStatus::ok);
    return call.output();
  };
  EXPECT_THAT(order(Schedule::sequential, 0), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(order(Schedule::reversed, 0), ElementsAre(7, 6, 5, 4, 3, 2, 1, 0));
  EXPECT_EQ(order(Schedule::random, 1), order(Schedule::random, 1));
  EXPECT_NE(order(Schedule::random, 1), order(Schedule::random, 2));
}

std::string load_error(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::temp_directory_path() / ("warpfuzz-" + name + ".cu");
  std::ofstream(path) << text;
  try {
    load_source(path, build_instrumentation());
  } catch (const std::runtime_error& error) {  // KernelError or CompileError
    return error.what();
  }
  return "";
}

TEST(Simt, ObjectsThatCannotRunAreRefused) {
  EXPECT_THAT(load_error("no-entry", "__global__ void k() {}"),
              testing::EndsWith("does not export warpfuzz_kernel; expected extern \"C\" WfStatus "
                                "warpfuzz_kernel(const WfCall*)"));
  const std::string entry =
      "#include \"warpfuzz_kernel.h\"\n"
      "extern \"C\" WfStatus warpfuzz_kernel(const WfCall* c) { k<<<1, 1>>>((float*)c->workspace); "
      "return WF_OK; }\n";
  const auto kernel = [&](const std::string& floats) {
    return "#include <cuda_runtime.h>\n__global__ void k(float* y) { __shared__ float s[" + floats +
           "]; s[threadIdx.x] = 1; y[0] = s[0]; }\n" + entry;
  };
  EXPECT_EQ(load_error("shared-fits", kernel("12288")), "");
  EXPECT_THAT(load_error("shared-too-large", kernel("12289")),
              testing::HasSubstr(".cu:2: error: void k(float *) has 49156 bytes of static shared "
                                 "memory, s (49156 bytes); a kernel may have 49152 "));
}

TEST(Simt, AMillionBarrierSwitchesTakeLessThanASecond) {
  VectorCall call(kernel_many_barriers, 64);
  ASSERT_EQ(call.run(load(correct_file, as_built)).status, RunStatus::ok);  // compiled and loaded
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 16; ++i)
    ASSERT_EQ(call.run(load(correct_file, as_built)).status, RunStatus::ok);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  RecordProperty("nanoseconds_per_switch", std::to_string(seconds.count() * 1e9 / 1.024e6));
  EXPECT_LT(seconds.count(), 1.0);
}

}  // namespace
}  // namespace warpfuzz
