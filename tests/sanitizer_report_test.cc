// What compute-sanitizer prints, as faults: text of the shape that its versions since 2022 print,
// and text that nobody should trust.
#include "kernels/cuda/sanitizer_report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/recorded_reports.h"

namespace warpfuzz::cuda {
namespace {

const std::vector<NamedAllocation> allocations = {{"x", 0x7f71b9e00a00, 2400},
                                                  {"y", 0x7f71b9f00200, 1024}};

// "kind message @file:line block thread", and the earlier access of a race.
std::string brief(const Fault& fault) {
  const auto triple = [](const Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); };
  std::string text = fmt::format("{}: {} @{}:{} {} {}", name(fault.kind), fault.message, fault.file,
                                 fault.line, triple(fault.block), triple(fault.thread));
  if (fault.earlier) {
    text += fmt::format(" after {} @{}:{} {}", fault.earlier->kind, fault.earlier->file,
                        fault.earlier->line, triple(fault.earlier->thread));
  }
  return text;
}

struct Row {
  std::string text;
  std::vector<std::string> faults;
};

TEST(SanitizerReport, BecomesFaults) {
  const Row rows[] = {
      {test::memcheck_report,
       {"out_of_bounds_write: out-of-bounds write of 4 bytes in global memory, 1 byte after y "
        "@relu.cu:8 (3,0,0) (17,0,0)",
        "misaligned_access: misaligned read of 16 bytes in global memory @/src/relu.cu:6 (0,0,0) "
        "(1,0,0)",
        "out_of_bounds_read: out-of-bounds read of 4 bytes in shared memory at "
        "tile(float *)+0x120 @:0 (0,0,0) (31,0,0)",
        "out_of_bounds_write: out-of-bounds atomic of 4 bytes in global memory, 593361581569 bytes "
        "before the nearest allocation @hist.cuh:40 (0,0,0) (0,2,0)"}},
      {test::hazard_report,
       {"data_race: read of byte 16 of shared memory @softmax.cu:22 (2,0,0) (0,0,0) after write "
        "@softmax.cu:20 (1,0,0)"}},
      {test::analysis_report,
       {"data_race: read of shared memory @softmax.cu:22 (0,0,0) (0,0,0) after write "
        "@softmax.cu:20 (0,0,0)"}},
      {test::initcheck_report,
       {"uninitialized_read: read of 4 bytes of y + 252 that nobody has written @sum.cu:41 (1,0,0) "
        "(31,0,0)"}},
      {test::synccheck_report,
       {"divergent_barrier: barrier: Divergent thread(s) in block. @sync.cu:61 (0,0,0) (19,0,0)",
        "undefined_behavior: barrier: Missing wait. @sync.cu:98 (0,0,0) (128,0,0)"}},
      {"========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", {}},
  };
  for (const Row& row : rows) {
    const SanitizerReport report = parse_sanitizer_report(row.text, allocations);
    EXPECT_TRUE(report.complete);
    std::vector<std::string> faults;
    for (const Fault& fault : report.faults) faults.push_back(brief(fault));
    EXPECT_EQ(faults, row.faults);
  }
}

TEST(SanitizerReport, OlderPositions) {
  const SanitizerReport report = parse_sanitizer_report(
      "========= Invalid __global__ read of size 8\n"
      "=========     at 0x000008f0 in /home/a b/x.cu:20:copy(int*)\n"
      "=========     by thread (63, 0, 0) in block (1, 2, 3)\n"
      "=========     Address 0x7f153e0002e8 is out of bounds\n",
      {});
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_EQ(brief(report.faults[0]),
            "out_of_bounds_read: out-of-bounds read of 8 bytes in global memory @/home/a b/x.cu:20 "
            "(1,2,3) (63,0,0)");
  EXPECT_FALSE(report.complete);
}

// As an H200 told them: a race of a warning's rank, and an access inside a header of the toolkit.
TEST(SanitizerReport, WarningsOfRacesAndCallersOfHeaders) {
  const SanitizerReport report = parse_sanitizer_report(
      "========= Warning: Race reported between Write access at void softmax<float>(T1 *)+0x420 in "
      "k.cu:25\n"
      "=========     and Read access at void softmax<float>(T1 *)+0x4a0 in k.cu:28 [4 hazards]\n"
      "========= \n"
      "========= Uninitialized __global__ memory read of size 4 bytes\n"
      "=========     at atomicAdd(float *, float)+0x660 in sm_20_atomic_functions.hpp:84\n"
      "=========     by thread (0,0,0) in block (0,0,0)\n"
      "=========     Address 0x7f7bfeb00600\n"
      "=========         Device Frame: void scatter<float>(float *)+0x660 in scatter.cu:12\n"
      "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)\n",
      {});
  ASSERT_EQ(report.faults.size(), 2u);
  EXPECT_EQ(report.faults[0].kind, FaultKind::data_race);
  EXPECT_EQ(report.faults[0].line, 28);
  EXPECT_EQ(report.faults[1].file, "scatter.cu");
  EXPECT_EQ(report.faults[1].line, 12);
}

TEST(SanitizerReport, HostileTextIsBounded) {
  std::string text = "========= Invalid __global__ write of size 4 bytes\n=========     at ";
  text += std::string(100000, '\x1b') + " in " + std::string(5000, 'f') + ".cu:7\n";
  for (int i = 0; i < 1000; ++i) {
    text += fmt::format(
        "========= Invalid __global__ write of size 4 bytes\n=========     at k()+{:#x} in "
        "k.cu:{}\n",
        i, i + 1);
  }
  text += "========= Error: Race reported between\n=========     and Read access at\n";
  text += "========= Error: Potential RAW hazard detected at __\n=========     Write Thread\n";
  text += "========= Barrier error detected.";
  const SanitizerReport report = parse_sanitizer_report(text, {});
  EXPECT_EQ(report.faults.size(), max_faults);
  for (const Fault& fault : report.faults) {
    EXPECT_LE(fault.message.size() + fault.file.size(), 1000u);
    EXPECT_EQ(fault.message.find('\x1b'), std::string::npos);
  }
  // Cut anywhere, it is read without harm.
  for (const std::string& recorded :
       {std::string(test::memcheck_report), std::string(test::hazard_report)}) {
    for (size_t length = 0; length < recorded.size(); ++length) {
      parse_sanitizer_report(std::string_view(recorded).substr(0, length), allocations);
    }
  }
}

}  // namespace
}  // namespace warpfuzz::cuda
