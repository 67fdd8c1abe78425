// From end to end on the driver without a GPU: PTX kernels in campaigns, replay and minimize; the
// lines of device code that a corpus reaches; compute-sanitizer, played by a script.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/campaign_events.h"
#include "tests/fake_gpu.h"
#include "tests/recorded_reports.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;
using test::on_fake_gpu;
using testing::HasSubstr;
using testing::MatchesRegex;

const std::string examples = std::string(WARPFUZZ_SOURCE_DIR) + "/kernels/ptx/";

class PtxKernel : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }

  ProcessResult fuzz(const std::string& kernel, const std::string& runs) const {
    return on_fake_gpu({"fuzz", "relu", "--kernel", examples + kernel, "--device", "cuda", "--work",
                        path("work"), "--runs", runs, "--seed", "3", "--size-class", "0"});
  }
  // The one finding of a campaign on a kernel that makes NaN to 0.
  std::string finding() const {
    const ProcessResult result = fuzz("relu_drops_nan.json", "20000");
    EXPECT_EQ(result.exit_code, 1) << result.errors;
    return path("work/findings/EXC-01-relu-float32-float32-lost.wfr");
  }
  // A compute-sanitizer that runs its program and then has this to say.
  void make_sanitizer(const std::string& report) const {
    fs::create_directories(path("toolkit/bin"));
    std::ofstream(path("report")) << report;
    std::ofstream(path("toolkit/bin/compute-sanitizer"))
        << "#!/bin/sh\n"
           "echo \"$*\" > "
        << path("arguments")
        << "\n"
           "while [ $# -gt 0 ]; do\n"
           "  case $1 in --log-file) log=$2; shift 2;; --*) shift 2;; *) break;; esac\n"
           "done\n"
           "\"$@\" | tee "
        << path("printed")
        << "\n"
           "cp "
        << path("report") << " \"$log\"\n";
    ::chmod(path("toolkit/bin/compute-sanitizer").c_str(), 0755);
  }
  ProcessResult replay(const std::vector<std::string>& arguments) const {
    ::setenv("CUDA_HOME", path("toolkit").c_str(), 1);
    std::vector<std::string> all = {"replay"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const ProcessResult result = on_fake_gpu(all);
    ::unsetenv("CUDA_HOME");
    return result;
  }
  static std::string read(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  const test::TemporaryDirectory directory_;
};

TEST_F(PtxKernel, CampaignsFindWhatIsWrong) {
  const std::string file = finding();
  ASSERT_TRUE(fs::exists(file));
  ProcessResult result = on_fake_gpu({"replay", file});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("EXC-01 non-finite propagation"));
  EXPECT_THAT(result.output, HasSubstr("kernel      "));
  EXPECT_THAT(result.output, HasSubstr("the same gate, outputs the same bits as stored"));
  result = on_fake_gpu({"replay", file, "--kernel", examples + "relu_vec4.json"});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("passes now"));
  result = on_fake_gpu({"minimize", file, "--seconds", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("call        relu float32 m=1 n=1 "));
}

TEST_F(PtxKernel, TensorMemoryThatNoDeviceHasIsNeverAskedFor) {
  fs::copy(std::string(WARPFUZZ_SOURCE_DIR) + "/tests/ptx_tensor_memory.ptx", path("k.ptx"));
  std::ofstream(path("k.json")) << R"({"module": "k.ptx", "launches": [{"entry": "too_many",
      "grid": [1], "block": [64], "arguments": [{"type": "pointer", "value": "y"}]}]})";
  const std::vector<std::string> command = {"fuzz",     "relu", "--kernel", path("k.json"),
                                            "--device", "cuda", "--work",   path("work"),
                                            "--runs",   "100",  "--seed",   "3"};
  ProcessResult result = on_fake_gpu(command);
  EXPECT_EQ(result.exit_code, 1) << result.errors;
  EXPECT_THAT(result.output,
              HasSubstr("RES-02 resources: 1 of 1 launches not made; tensor memory: tcgen05.alloc "
                        "of 64 columns while 512 of 512 are taken (too_many.cu:10)"));
  // No less on a device that cannot load the module.
  std::ofstream(path("k.ptx"), std::ios::app) << ".entry other()\n{ ld.odd; ret; }\n";
  fs::remove_all(path("work"));
  result = on_fake_gpu(command);
  EXPECT_EQ(result.exit_code, 1) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("RES-02 resources: 1 of 1 launches not made; "));
}

TEST_F(PtxKernel, CorrectOnesStayClean) {
  const ProcessResult result = fuzz("relu_vec4.json", "2000");
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
}

TEST_F(PtxKernel, CertifyTakesThemOnAGpu) {
  const ProcessResult result = on_fake_gpu({"certify", "--device", "cuda", "--kernel",
                                            "relu_drops_nan", "--kernel", "relu_vec4", "--quick"});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_THAT(result.output, HasSubstr("campaigns named as the manifest says 1/1"));
  EXPECT_THAT(result.output, HasSubstr("false alarms on correct kernels 0/1"));
}

TEST_F(PtxKernel, OtherDevicesAndFilesAreRefused) {
  struct Row {
    std::vector<std::string> arguments;
    int exit_code;
    std::string message;
  };
  const Row rows[] = {
      {{"fuzz", "relu", "--kernel", examples + "relu_vec4.json"},
       2,
       "PTX and cubin kernels run on a GPU only; give --device cuda, or the kernel's source"},
      {{"fuzz", "relu", "--kernel", examples + "relu_vec4.ptx", "--device", "cuda"},
       2,
       "a ptx file does not say how to launch it; give the manifest that does, a .json file"},
      {{"fuzz", "relu", "--kernel", path("no.json"), "--device", "cuda"},
       2,
       "no such kernel file: "},
      {{"fuzz", "matmul", "--kernel", examples + "relu_vec4.json", "--device", "cuda", "--work",
        path("work")},
       2,
       "relu_vec4.json: preconditions: column 33 of "},
      {{"coverage", "relu", "--kernel", examples + "relu_vec4.json"},
       2,
       "coverage needs the source, a .cu file"},
  };
  for (const Row& row : rows) {
    const ProcessResult result = on_fake_gpu(row.arguments);
    EXPECT_EQ(result.exit_code, row.exit_code) << row.message << result.errors;
    EXPECT_THAT(result.errors, HasSubstr(row.message));
  }
}

TEST_F(PtxKernel, CoverageNamesDeviceLines) {
  ASSERT_EQ(fuzz("relu_vec4.json", "500").exit_code, 0);  // its corpus
  ProcessResult result =
      on_fake_gpu({"coverage", "relu", "--kernel", examples + "relu_vec4.json", "--device", "cuda",
                   "--work", path("work"), "--html", path("page.html")});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("relu_vec4.cu: 7 of 7 device lines and 4 of 4 branches"));
  EXPECT_THAT(read(path("page.html")), HasSubstr("if (i &gt;= quads) return;"));
  result = on_fake_gpu({"coverage", "relu", "--kernel", examples + "relu_vec4.json", "--device",
                        "cuda", "--work", path("made"), "--seconds", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("a campaign of 1 s makes one"));
}

TEST_F(PtxKernel, CoverageSaysWhatNoCaseReached) {
  // Everything that asks for more elements than there are is dead.
  std::string text = read(examples + "relu_drops_nan.ptx");
  const std::string compared = "setp.ge.s32 \t%p1, %r1, %r2;";
  ASSERT_NE(text.find(compared), text.npos);
  text.replace(text.find(compared), compared.size(), "setp.ge.s32 \t%p1, %r2, -1;");
  std::ofstream(path("relu_drops_nan.ptx")) << text;
  fs::copy(examples + "relu_drops_nan.json", path("k.json"));
  ASSERT_EQ(fuzz("relu_vec4.json", "100").exit_code, 0);
  const ProcessResult result = on_fake_gpu(
      {"coverage", "relu", "--kernel", path("k.json"), "--device", "cuda", "--work", path("work")});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("device lines and 1 of 2 branches reached by "));
  EXPECT_THAT(result.output, HasSubstr("      7  not reached"));
  EXPECT_THAT(result.output, HasSubstr("      6  never false"));
  EXPECT_THAT(result.output, HasSubstr("   [ge.s32]\n"));
}

TEST_F(PtxKernel, CoverageGoesOnWhereTheDeviceIsLost) {
  ASSERT_EQ(fuzz("relu_vec4.json", "300").exit_code, 0);
  ::setenv("FAKE_FAULT_AT", "4", 1);
  const ProcessResult result =
      on_fake_gpu({"coverage", "relu", "--kernel", examples + "relu_vec4.json", "--device", "cuda",
                   "--work", path("work")});
  ::unsetenv("FAKE_FAULT_AT");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  // Each process runs three cases and loses the device to the fourth.
  EXPECT_THAT(result.output, MatchesRegex(".*7 of 7 device lines.* by ([0-9]+) cases, [0-9]+ "
                                          "faulted\n(.|\n)*"));
}

// Cases of 1,024 or more elements lose the device, at whoever's turn: the campaign goes on, and its
// finding says what the device said, of the smallest such case.
TEST_F(PtxKernel, CampaignsGoOnWhereTheDeviceIsLost) {
  ::setenv("FAKE_FAULT_FROM_BLOCKS", "3", 1);
  const ProcessResult result = on_fake_gpu(
      {"fuzz", "relu", "--kernel", examples + "relu_vec4.json", "--device", "cuda", "--work",
       path("work"), "--time", "200s", "--runs", "300", "--keep-going", "--seed", "3", "--json"});
  EXPECT_EQ(result.exit_code, 1) << result.errors;
  const auto json = test::done_event(result);
  ASSERT_EQ(json["findings"].size(), 1u) << result.output;
  const fs::path file = path("work/findings/RUN-01-relu-float32-float32-bounds.wfr");
  ProcessResult shown = on_fake_gpu({"show", file});
  EXPECT_THAT(shown.output, HasSubstr("the device reports: illegal address (CUDA error 700)"));
  EXPECT_GE(json["restarts"], 3);
  EXPECT_GE(json["runs"], 300);
  shown = on_fake_gpu({"replay", file});
  EXPECT_EQ(shown.exit_code, 1) << shown.errors;
  EXPECT_THAT(shown.output, HasSubstr("RUN-01"));
  ::unsetenv("FAKE_FAULT_FROM_BLOCKS");
  EXPECT_EQ(on_fake_gpu({"replay", file}).exit_code, 0);
}

// Its calls are wrong because of those before: the finding says so, and shows it where it is
// replayed, in a process that has made no other calls.
TEST_F(PtxKernel, WhatAnObjectRemembersIsToldApart) {
  ::setenv("FAKE_KERNEL_REMEMBERS", "1", 1);
  const ProcessResult result =
      on_fake_gpu({"fuzz", "relu", "--kernel", WARPFUZZ_FAKE_KERNEL, "--device", "cuda", "--work",
                   path("work"), "--runs", "400", "--keep-going", "--seed", "3"});
  EXPECT_EQ(result.exit_code, 1) << result.errors;
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(path("work/findings"))) {
    found.push_back(entry.path().stem());
  }
  EXPECT_THAT(found, Each(HasSubstr("STA-01-relu-float32-float32")));
  ASSERT_FALSE(found.empty());
  const std::string file = path("work/findings/") + found.front() + ".wfr";
  const ProcessResult replayed = on_fake_gpu({"replay", file, "--kernel", WARPFUZZ_FAKE_KERNEL});
  EXPECT_EQ(replayed.exit_code, 1) << replayed.errors;
  EXPECT_THAT(replayed.output, HasSubstr("STA-01"));
  ::unsetenv("FAKE_KERNEL_REMEMBERS");
}

TEST_F(PtxKernel, SanitizerReportsJoinTheFinding) {
  const std::string file = finding();
  make_sanitizer(test::memcheck_report);
  ProcessResult result = replay({file, "--sanitizer", "memcheck", "--output", path("now.wfr")});
  EXPECT_EQ(result.exit_code, 1) << result.errors;
  // A write outside every tensor comes before a value.
  EXPECT_THAT(result.output, HasSubstr("MEM-01 guards: out-of-bounds write of 4 bytes in global "));
  EXPECT_THAT(result.output, HasSubstr("relu.cu:8  out-of-bounds write of 4 bytes"));
  EXPECT_THAT(result.output, HasSubstr("block (3,0,0), thread (17,0,0)"));
  EXPECT_THAT(result.output, HasSubstr("stored as EXC-01"));
  EXPECT_THAT(read(path("arguments")), HasSubstr("--tool memcheck"));
  EXPECT_THAT(read(path("printed")),
              MatchesRegex("tensor x [0-9a-f]+ [0-9]+\ntensor y [0-9a-f]+ [0-9]+\ncalling\noutcome "
                           "WF_OK\n"));
  result = on_fake_gpu({"show", path("now.wfr")});
  EXPECT_THAT(result.output, HasSubstr("MEM-01"));

  make_sanitizer(test::initcheck_report);
  result = replay({file, "--sanitizer", "initcheck", "--json"});
  const auto json = nlohmann::json::parse(result.output);
  EXPECT_EQ(json["gate"], "EXC-01");
  EXPECT_EQ(json["reported"][0]["kind"], "uninitialized_read");
  EXPECT_EQ(json["reported"][0]["line"], 41);

  make_sanitizer(test::hazard_report);
  result = replay({file, "--sanitizer", "racecheck"});
  EXPECT_THAT(result.output,
              HasSubstr("RAC-01 races: a read of byte 16 of shared memory is not ordered after the "
                        "write by another thread"));
  EXPECT_THAT(read(path("arguments")), HasSubstr("--racecheck-report all"));

  make_sanitizer(test::initcheck_report);
  result = replay({file, "--kernel", examples + "relu_vec4.json", "--sanitizer", "initcheck"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("initcheck reports, and no result depends on it:"));
}

TEST_F(PtxKernel, SanitizersThatCannotWork) {
  const std::string file = finding();
  make_sanitizer("========= COMPUTE-SANITIZER\n========= Error: Device not supported.\n");
  ProcessResult result = replay({file, "--sanitizer", "memcheck"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, HasSubstr("compute-sanitizer could not watch the call: "));
  EXPECT_THAT(result.errors, HasSubstr("Device not supported."));
  result = replay({file, "--sanitizer", "leakcheck"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors,
              HasSubstr("--sanitizer leakcheck: expected one of memcheck, racecheck"));
  result = replay({file, "--sanitizer", "memcheck", "--device", "cpu"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("compute-sanitizer watches a GPU; give --device cuda"));
  result = replay({file, file, "--output", path("now.wfr")});
  EXPECT_EQ(result.exit_code, 2);
}

TEST_F(PtxKernel, SanitizersThatAreNotThere) {
  if (fs::exists("/usr/local/cuda/bin/compute-sanitizer") ||
      fs::exists("/usr/local/cuda/compute-sanitizer/compute-sanitizer")) {
    GTEST_SKIP() << "compute-sanitizer is installed";
  }
  const ProcessResult result = replay({finding(), "--sanitizer", "memcheck"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors,
              HasSubstr("compute-sanitizer is neither on PATH nor in $CUDA_HOME, $CUDA_PATH or "));
}

}  // namespace
}  // namespace warpfuzz
