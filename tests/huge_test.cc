// `warpfuzz huge` without a GPU: what it leaves out, and what it accuses of what.
#include "fuzzers/huge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "tests/command.h"
#include "tests/huge_fixture.h"

namespace warpfuzz {
namespace {

using testing::HasSubstr;

TEST_F(Huge, PassesAKernelThatIsRight) {
  for (const int64_t host_elements : {1000, 1 << 20}) {  // values of the device, of the host
    HugeOptions of = options();
    of.limits.host_elements = host_elements;
    const HugeReport report = run(of);
    EXPECT_EQ(report.exercised, 4u);
    EXPECT_EQ(report.findings, 0u);
    ASSERT_EQ(verdicts_.size(), 4u);
    for (const HugeVerdict& verdict : verdicts_) {
      EXPECT_EQ(verdict.outcome, HugeOutcome::pass) << verdict.reason;
      EXPECT_GE(verdict.rows, 1u);
      EXPECT_GT(verdict.elements, 0u);
      EXPECT_EQ(verdict.undecided, 0u);
    }
    EXPECT_EQ(variable<uint64_t>("libcuda.so.1", "fake_live_allocations"), 0u);
  }
}

struct FaultRow {
  int fault;
  HugeOutcome small;  // of the call below the boundary
  std::string gate, reason;
};

TEST_F(Huge, AccusesByTheContractBroken) {
  const FaultRow rows[] = {
      {1, HugeOutcome::finding, "RUN-01", "the kernel reports an error"},
      {2, HugeOutcome::finding, "RUN-01", "the kernel reports an error: it throws: no luck"},
      {3, HugeOutcome::finding, "MEM-01",
       "4 bytes of the guard after output y changed, the first 0 bytes into it"},
      {5, HugeOutcome::finding, "RUN-01",
       "a launch fails, and nobody notices: invalid configuration argument"},
      {10, HugeOutcome::pass, "CMP-03",
       "wrong on this shape, right where the tensors have just below 100000 elements"},
      {11, HugeOutcome::pass, "MEM-02",
       "1 of 1048576 elements of output y are not written, the first is number 1048575"},
      {12, HugeOutcome::pass, "MEM-03",
       "1 elements of input x changed, the first is number 524288"},
      {13, HugeOutcome::pass, "CMP-03", "the kernel rejects a call that its preconditions admit"}};
  for (const FaultRow& row : rows) {
    SCOPED_TRACE(row.gate + " " + std::to_string(row.fault));
    reset();
    fault() = row.fault;
    const HugeReport report = run(options());
    ASSERT_EQ(verdicts_.size(), 4u);
    EXPECT_EQ(verdicts_[0].outcome, row.small) << verdicts_[0].reason;
    EXPECT_EQ(report.findings, row.small == HugeOutcome::pass ? 3u : 4u);
    EXPECT_EQ(verdicts_[1].gate, row.gate);
    EXPECT_THAT(verdicts_[1].reason, HasSubstr(row.reason));
  }
}

TEST_F(Huge, WhatIsWrongAtAnySizeIsNoMatterOfSize) {
  fault() = 10;  // wrong from 100,000 elements on
  HugeOptions of = options();
  of.limits.boundary = 200'000;
  run(of);
  EXPECT_EQ(verdicts_[0].gate, "CMP-01");
  EXPECT_EQ(verdicts_[0].reason,
            "wrong, and not for its size: the tensors have just below 200000 elements");
  EXPECT_EQ(verdicts_[1].gate, "CMP-01");
  EXPECT_EQ(verdicts_[1].reason, "wrong on this shape, as on call 1, which is smaller");
  EXPECT_THAT(verdicts_[1].details.front(), HasSubstr("where       output y: 1 of the "));
}

TEST_F(Huge, AFaultEndsTheUseOfTheDevice) {
  fault() = 15;
  const HugeReport report = run(options());
  EXPECT_TRUE(report.device_lost);
  EXPECT_EQ(report.findings, 1u);
  EXPECT_EQ(report.exercised, 1u);
  EXPECT_EQ(verdicts_[0].gate, "RUN-01");
  EXPECT_EQ(verdicts_[0].reason, "the device reports: illegal address (CUDA error 700)");
  EXPECT_EQ(verdicts_[1].outcome, HugeOutcome::not_exercised);
  EXPECT_EQ(verdicts_[1].reason, "a fault has ended this process's use of the device");
}

TEST_F(Huge, WhatTheMemoryDoesNotHoldIsNotExercised) {
  // Half a GiB is kept back; two tensors of 99,856 floats and their guards take 1.1 MB.
  free_bytes() = (uint64_t{512} << 20) + 1'300'000;
  HugeReport report = run(options());
  EXPECT_EQ(report.calls, 4u);
  EXPECT_EQ(report.exercised, 1u);
  EXPECT_EQ(verdicts_[0].outcome, HugeOutcome::pass);
  EXPECT_EQ(verdicts_[1].outcome, HugeOutcome::not_exercised);
  EXPECT_EQ(verdicts_[1].reason, "needs 0.5 GiB of the device's memory, 0.5 GiB are free");
  free_bytes() = 0;
  report = run(options());
  EXPECT_EQ(report.exercised, 0u);
  free_bytes() = uint64_t{64} << 30;
  fault() = 14;
  report = run(options());
  EXPECT_EQ(report.exercised, 0u);
  EXPECT_EQ(verdicts_[0].reason, "the kernel's own memory does not fit beside its tensors");
}

TEST_F(Huge, ADeviceWithOtherValuesJudgesNothing) {
  other_values() = 1;
  try {
    run(options());
    ADD_FAILURE();
  } catch (const EnvironmentError& error) {
    EXPECT_STREQ(error.what(),
                 "the device makes other normal values of float32 than the host; nothing can be "
                 "judged with them");
  }
}

TEST_F(Huge, OneCallAlone) {
  HugeOptions of = options();
  of.only = 3;
  EXPECT_EQ(run(of).calls, 1u);
  EXPECT_EQ(verdicts_.at(0).number, 3u);
  of.only = 5;
  try {
    run(of);
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--only 5: expected 1 to 4");
  }
}

struct CommandRow {
  std::vector<std::string> arguments;
  int exit_code;
  std::string output, errors;
};

TEST_F(Huge, TheCommandFromEndToEnd) {
  setenv("LD_LIBRARY_PATH", WARPFUZZ_FAKE_DRIVER_DIRECTORY, 1);
  // The fake device has less memory than these calls need.
  const CommandRow rows[] = {
      {{"relu"}, 4, "fake: 0 of 4 calls exercised, 0 findings", ""},
      {{"relu", "--only", "4"}, 4, "not exercised: needs ", ""},
      {{"relu", "--json"}, 4, "\"outcome\":\"not exercised\"", ""},
      {{"relu", "--device", "cpu"},
       2,
       "",
       "--device cpu: calls of more than 2^31 elements need a GPU; expected cuda or cuda:N"},
      {{"relu", "--law", "ramp"},
       2,
       "",
       "--law ramp: expected one of normal, uniform, log_uniform, large_mean, tiny_spread, "
       "very_negative, outliers"},
      {{"relu", "--dtype", "T=float16"}, 2, "", "kernel's preconditions \"T == float32 && "},
      {{"relu", "--prebuilt", "/nowhere"}, 2, "", "--prebuilt /nowhere: expected a directory"},
      {{"relu", "--only", "0"}, 2, "", "--only 0: expected 1 to 4"},
      {{"relu", "--device", "cuda:7"}, 3, "", "no CUDA device 7: this process sees 1"},
      {{"scatter_add"}, 2, "", "scatter_add: a huge call is judged by rows"}};
  for (const CommandRow& row : rows) {
    std::vector<std::string> arguments = {"huge"};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    arguments.insert(arguments.end(), {"--kernel", WARPFUZZ_FAKE_KERNEL});
    if (row.errors.find("nowhere") == std::string::npos) {
      arguments.insert(arguments.end(), {"--prebuilt", WARPFUZZ_FAKE_DRIVER_DIRECTORY});
    }
    const ProcessResult result = test::warpfuzz_command(arguments);
    EXPECT_EQ(result.exit_code, row.exit_code) << result.output << result.errors;
    EXPECT_THAT(result.output, HasSubstr(row.output));
    EXPECT_THAT(result.errors, HasSubstr(row.errors));
  }
  unsetenv("LD_LIBRARY_PATH");
}

}  // namespace
}  // namespace warpfuzz
