// `warpfuzz huge` without a GPU: products judged as a whole, integers that nobody wrote, and
// kernels as PTX.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "fuzzers/temporary_directory.h"
#include "kernels/device.h"
#include "tests/huge_fixture.h"

namespace warpfuzz {
namespace {

using testing::HasSubstr;

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

// Where poison is an ordinary value.
TEST_F(Huge, FindsIntegersThatNobodyWrote) {
  preconditions() = "T == float32";
  HugeOptions of = options("quantize_int8", "T=float32");
  of.limits.sample_work = 1;
  for (const int unwritten : {0, 1}) {
    fault() = unwritten == 0 ? 0 : 11;
    const HugeReport report = run(of);
    EXPECT_EQ(report.exercised, 4u);
    EXPECT_EQ(report.findings, unwritten == 0 ? 0u : 3u);
    for (size_t i = 0; i < verdicts_.size() && unwritten == 1; ++i) {
      if (i == 0) continue;  // as large as it must be to go wrong
      EXPECT_EQ(verdicts_[i].gate, "MEM-02") << verdicts_[i].reason;
      const std::vector<int64_t>& axes = verdicts_[i].call.c.axes;
      EXPECT_EQ(verdicts_[i].reason, std::to_string(axes[1]) + " of " +
                                         std::to_string(axes[0] * axes[1]) +
                                         " elements of output q are not written");
    }
  }
  // Other codes in the second call are no proof of anything.
  fault() = 16;
  EXPECT_EQ(run(of).findings, 0u);
  fault() = 17;
  EXPECT_EQ(run(of).findings, 3u);  // rows of one element have no -1
  EXPECT_EQ(verdicts_[0].gate, "RUN-01");
  EXPECT_EQ(verdicts_[0].reason, "called again on the same inputs: the kernel reports an error");
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

}  // namespace
}  // namespace warpfuzz
