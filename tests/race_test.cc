// The race mode of the CPU device: every planted fault is reported at both its lines, whatever the
// schedule, and its twin without the fault is not accused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "tests/race_kernels.h"
#include "tests/simt_fixture.h"

namespace warpfuzz {
namespace {

const char* const kernels_file = WARPFUZZ_SOURCE_DIR "/tests/race_kernels.cu";
const char* const honest_file = WARPFUZZ_SOURCE_DIR "/tests/race_honest_kernels.cu";
constexpr int64_t elements = 512;

Kernel& kernels() {
  static const auto kernel = load_source(kernels_file, race_instrumentation);
  return *kernel;
}

// The lines with the comment "fault: <name>".
std::set<int> lines_of(const std::string& name) {
  std::set<int> lines;
  std::ifstream file(kernels_file);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.ends_with("// fault: " + name)) lines.insert(number);
  }
  return lines;
}

struct Row {
  RaceProgram program;
  const char* name;
  FaultKind kind;
  const char* memory;  // part of the message; empty for tensors
};

const Row rows[] = {
    {raw_shared, "raw_shared", FaultKind::data_race, "of shared array tile"},
    {war_shared, "war_shared", FaultKind::data_race, "of shared array tile"},
    {waw_shared, "waw_shared", FaultKind::data_race, "of shared array tile"},
    {inter_block_sum, "inter_block_sum", FaultKind::data_race, ""},
    {missing_syncwarp, "missing_syncwarp", FaultKind::data_race, "of shared array lanes"},
    {tile_sync, "tile_sync", FaultKind::data_race, "of shared array lanes"},
    {volatile_warp, "volatile_warp", FaultKind::data_race, "of shared array memory"},
    {uninitialized_shared, "uninitialized_shared", FaultKind::uninitialized_read,
     "of shared array tile"},
    {uninitialized_global, "uninitialized_global", FaultKind::uninitialized_read, ""},
    {uninitialized_malloc, "uninitialized_malloc", FaultKind::uninitialized_read,
     "of 256 from cudaMalloc"},
    {misaligned_float4, "misaligned_float4", FaultKind::misaligned_access, "not a multiple of 16"},
    {misaligned_store, "misaligned_store", FaultKind::misaligned_access, "not a multiple of 8"},
    {power_of_two, "power_of_two", FaultKind::uninitialized_read,
     "of element 48 of shared array sum"},
    {partial_warp, "partial_warp", FaultKind::exited_lane, "which the block does not have"},
    {template_shared, "template_shared", FaultKind::data_race, "of shared array slots"},
    {dynamic_shared, "dynamic_shared", FaultKind::data_race, "of dynamic shared memory"},
    {atomic_then_plain, "atomic_then_plain", FaultKind::data_race, "of shared variable total"},
    {missing_fence, "missing_fence", FaultKind::data_race, ""},
    {lock_without_fence, "lock_without_fence", FaultKind::data_race, "of device variable guarded"},
    {look_back, "look_back", FaultKind::data_race, "of device array prefix"},
    {device_variable, "device_variable", FaultKind::data_race, "of device variable counter"},
    {half_neighbours, "half_neighbours", FaultKind::data_race, "of shared array tile"},
    {grid_phases, "grid_phases", FaultKind::data_race, ""},
    {shuffle_is_no_barrier, "shuffle_is_no_barrier", FaultKind::data_race, "of shared array lanes"},
    {two_streams, "two_streams", FaultKind::data_race, ""},
};

RunOptions in(Schedule schedule, uint32_t seed) {
  RunOptions options;
  options.schedule = schedule;
  options.schedule_seed = seed;
  return options;
}
const RunOptions schedules[] = {in(Schedule::sequential, 0), in(Schedule::reversed, 0),
                                in(Schedule::random, 1), in(Schedule::random, 2)};

class Race : public testing::TestWithParam<std::tuple<Row, RunOptions>> {};

TEST_P(Race, PlantedFaultIsReportedAtItsLines) {
  const auto& [row, options] = GetParam();
  VectorCall call(2 * row.program, elements);
  RunResult result = call.run(kernels(), options);
  kernels().resolve_positions(result.faults);
  const Fault* found = nullptr;
  for (const Fault& fault : result.faults) {
    if (found == nullptr && fault.kind == row.kind) found = &fault;
  }
  ASSERT_NE(found, nullptr) << result.message;
  EXPECT_THAT(found->message, testing::HasSubstr(row.memory));
  EXPECT_THAT(found->file, testing::EndsWith("race_kernels.cu"));
  std::set<int> lines = {found->line};
  if (found->earlier) {
    lines.insert(found->earlier->line);
    EXPECT_THAT(found->earlier->file, testing::EndsWith("race_kernels.cu"));
  }
  EXPECT_EQ(lines, lines_of(row.name)) << found->message;
}

void expect_no_accusation(Kernel& kernel, int program, const RunOptions& options) {
  VectorCall call(program, elements);
  RunResult result = call.run(kernel, options);
  kernel.resolve_positions(result.faults);
  for (const Fault& fault : result.faults) {
    ADD_FAILURE() << name(fault.kind) << " " << fault.message << " at line " << fault.line
                  << (fault.earlier ? fmt::format(", earlier {} at line {}", fault.earlier->kind,
                                                  fault.earlier->line)
                                    : "");
  }
  EXPECT_EQ(result.status, RunStatus::ok) << result.message;
}

TEST_P(Race, TwinWithoutTheFaultIsNotAccused) {
  const auto& [row, options] = GetParam();
  expect_no_accusation(kernels(), 2 * row.program + 1, options);
}

class Honest : public testing::TestWithParam<std::tuple<int, RunOptions>> {};

TEST_P(Honest, IsNotAccused) {
  static const auto kernel = load_source(honest_file, race_instrumentation);
  const auto& [program, options] = GetParam();
  expect_no_accusation(*kernel, program, options);
}

INSTANTIATE_TEST_SUITE_P(Programs, Honest,
                         testing::Combine(testing::Range(0, int{honest_program_count}),
                                          testing::ValuesIn(schedules)));

INSTANTIATE_TEST_SUITE_P(Programs, Race,
                         testing::Combine(testing::ValuesIn(rows), testing::ValuesIn(schedules)),
                         [](const auto& row) {
                           const RunOptions& options = std::get<1>(row.param);
                           return fmt::format("{}_{}_{}", std::get<0>(row.param).name,
                                              static_cast<int>(options.schedule),
                                              options.schedule_seed);
                         });

}  // namespace
}  // namespace warpfuzz
