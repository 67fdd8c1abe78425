// `warpfuzz huge` on a driver without a GPU (cuda_fake_driver.cc), with tensors of 100,000 elements
// in the place of 2^31: what it leaves out, and what it accuses of what.
#include "fuzzers/huge.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "fuzzers/installation.h"
#include "fuzzers/temporary_directory.h"
#include "kernels/device.h"
#include "tests/command.h"

namespace warpfuzz {
namespace {

using testing::HasSubstr;

std::shared_ptr<const Schema> schema_of(const std::string& op) {
  return Installation::find().schema(op);
}

template <class T>
T& variable(const std::string& library, const char* name) {
  return *static_cast<T*>(dlsym(dlopen(library.c_str(), RTLD_NOW), name));
}

class Huge : public testing::Test {
 protected:
  Huge() { reset(); }
  ~Huge() override { reset(); }

  static int& fault() { return variable<int>(WARPFUZZ_FAKE_KERNEL, "fake_fault"); }
  static int& stream() { return variable<int>("libcuda.so.1", "fake_stream_status"); }
  static uint64_t& free_bytes() { return variable<uint64_t>("libcuda.so.1", "fake_free_bytes"); }
  static int& other_values() {
    return variable<int>(WARPFUZZ_FAKE_DRIVER_DIRECTORY "/huge_tensors.so", "fake_other_values");
  }
  static int& of_product(const char* name) {
    return variable<int>(WARPFUZZ_FAKE_DRIVER_DIRECTORY "/huge_product.so", name);
  }
  // Few rows go to the host.
  static HugeOptions product_options() {
    HugeOptions of = options("matmul");
    of.limits.host_elements = 1 << 20;
    of.limits.sample_work = 1;
    return of;
  }
  static void reset() {
    fault() = stream() = other_values() = 0;
    of_product("fake_other_sums") = of_product("fake_other_verdicts") = 0;
    free_bytes() = uint64_t{64} << 30;
  }

  static HugeOptions options(const std::string& op = "relu") {
    HugeOptions options;
    options.schema = schema_of(op);
    options.device = {.cuda = true};
    options.kernel = WARPFUZZ_FAKE_KERNEL;
    options.prebuilt = WARPFUZZ_FAKE_DRIVER_DIRECTORY;
    options.dtypes = parse_dtypes(*options.schema, "T=float32,U=float32");
    options.limits.boundary = 100'000;
    options.limits.host_elements = 1000;
    return options;
  }

  HugeReport run(const HugeOptions& options) {
    verdicts_.clear();
    HugeReport report;
    run_huge(
        options, [&](const HugeVerdict& verdict) { verdicts_.push_back(verdict); },
        [&](const HugeReport& at_end) { report = at_end; });
    return report;
  }

  std::vector<HugeVerdict> verdicts_;
};

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

TEST_F(Huge, JudgesEveryElementOfAProduct) {
  const HugeReport report = run(product_options());
  EXPECT_EQ(report.findings, 0u);
  EXPECT_GE(report.exercised, 4u);
  for (const HugeVerdict& verdict : verdicts_) {
    if (verdict.outcome == HugeOutcome::not_exercised) continue;
    SCOPED_TRACE(describe(verdict.call.c));
    EXPECT_EQ(verdict.outcome, HugeOutcome::pass) << verdict.reason;
    EXPECT_TRUE(verdict.every_element);
    EXPECT_EQ(static_cast<int64_t>(verdict.elements),
              verdict.call.c.axes[0] * verdict.call.c.axes[1]);
    EXPECT_LT(verdict.rows, 40u);
    EXPECT_EQ(verdict.undecided, 0u);
    EXPECT_THAT(huge_text(verdict, "k", "again"), HasSubstr("rows on the host as well, "));
  }
  EXPECT_EQ(variable<uint64_t>("libcuda.so.1", "fake_live_allocations"), 0u);
  // Not of laws that the rule does not follow.
  HugeOptions of = product_options();
  of.law = ValueLaw::lattice;
  of.only = 1;
  EXPECT_EQ(run(of).findings, 0u);
  EXPECT_EQ(verdicts_.at(0).outcome, HugeOutcome::pass) << verdicts_.at(0).reason;
  EXPECT_FALSE(verdicts_.at(0).every_element);
}

TEST_F(Huge, FindsTheOneWrongElementOfAProduct) {
  fault() = 10;
  HugeOptions of = product_options();
  const HugeReport report = run(of);
  EXPECT_GE(report.findings, 3u);
  EXPECT_EQ(verdicts_[0].outcome, HugeOutcome::pass);
  for (const HugeVerdict& verdict : verdicts_) {
    if (verdict.outcome != HugeOutcome::finding) continue;
    const std::vector<int64_t>& axes = verdict.call.c.axes;
    SCOPED_TRACE(describe(verdict.call.c));
    if (axes[0] * axes[1] < 100'000) continue;
    const int64_t row = axes[0] * axes[1] / 3 / axes[1], column = axes[0] * axes[1] / 3 % axes[1];
    EXPECT_EQ(verdict.gate, "CMP-03");
    ASSERT_EQ(verdict.details.size(), 2u);
    EXPECT_EQ(verdict.details[0],
              "where       output c: 1 elements in 1 of its " + std::to_string(axes[0]) +
                  " rows are wrong, the first is in row " + std::to_string(row));
    EXPECT_THAT(verdict.details[1], testing::StartsWith("c[" + std::to_string(row) + "," +
                                                        std::to_string(column) + "]  observed "));
  }
}

TEST_F(Huge, ADeviceThatContradictsTheOracleAccusesNobody) {
  struct Row {
    const char* variable;
    int value, fault;
    const char* message;
  };
  const Row rows[] = {{"fake_other_sums", 1, 0, "the device expects c[0,0] to be "},
                      {"fake_other_verdicts", 1, 0,
                       "in row 0 of c the device finds 1 elements outside what is accepted and 0 "
                       "open, the host 0 outside and "},
                      {"fake_other_verdicts", 2, 10,
                       " of c the device finds 0 elements outside what is accepted and 0 open, the "
                       "host 1 outside and "}};
  for (const Row& row : rows) {
    reset();
    of_product(row.variable) = row.value;
    fault() = row.fault;
    HugeOptions of = product_options();
    if (row.fault != 0) of.limits.sample_work = int64_t{1} << 40;  // the host sees many rows
    try {
      run(of);
      ADD_FAILURE() << row.message;
    } catch (const EnvironmentError& error) {
      EXPECT_THAT(error.what(), HasSubstr(row.message));
    }
  }
}

// y = max(x, 0), of the first n elements.
constexpr const char* relu_ptx = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry relu(.param .u64 x, .param .u64 y, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<6>;
  ld.param.u32 %r2, [n];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r1, %r3, %r4, %r5;
  setp.ge.s32 %p1, %r1, %r2;
  @%p1 bra $done;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  mul.wide.s32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  max.f32 %f2, %f1, 0f00000000;
  st.global.f32 [%rd5], %f2;
$done:
  ret;
}
)";

// A PTX kernel, launched as its manifest says.
TEST_F(Huge, TakesPtxKernels) {
  const TemporaryDirectory directory;
  const std::filesystem::path manifest = directory.path() + "/k.json";
  std::ofstream(directory.path() + "/k.ptx") << relu_ptx;
  const auto write = [&](const std::string& elements) {
    std::ofstream(manifest) << R"({"module": "k.ptx", "preconditions": "m <= 200 && n <= 200 && )"
                            << R"(T == float32 && U == float32", "workspace": "8 * m",
  "launches": [{"entry": "relu", "grid": ["(m * n + 63) / 64"], "block": [64], "arguments": [
    {"type": "pointer", "value": "x"}, {"type": "pointer", "value": "y"},
    {"type": "int32_t", "value": ")"
                            << elements << R"("}]}]})";
  };
  HugeOptions of = options();
  of.kernel = manifest;
  of.limits.boundary = 1000;
  of.limits.host_elements = 100;
  write("m * n");
  HugeReport report = run(of);
  EXPECT_EQ(report.findings, 0u);
  EXPECT_GE(report.exercised, 3u);
  for (const HugeVerdict& verdict : verdicts_) {
    EXPECT_EQ(verdict.outcome, HugeOutcome::pass) << verdict.reason;
  }
  write("min(m * n, 1000)");
  report = run(of);
  EXPECT_EQ(report.findings, report.calls - 1);
  EXPECT_EQ(verdicts_.at(0).outcome, HugeOutcome::pass);
  EXPECT_EQ(verdicts_.at(1).gate, "MEM-02") << verdicts_.at(1).reason;
  std::ofstream(manifest) << "{}";
  EXPECT_THROW(run(of), KernelError);
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
