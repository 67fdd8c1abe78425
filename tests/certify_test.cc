// The parts of `warpfuzz certify`: the usual oracle, what a campaign's output says, the counts over
// all kernels and how they are shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fuzzers/certify_report.h"
#include "fuzzers/kernel_under_test.h"

namespace warpfuzz {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

struct CloseRow {
  double observed, expected;
  bool close;  // at rtol = atol = 1e-2
};

TEST(UsualOracle, ClosenessIsThatOfPyTorch) {
  constexpr Tolerances tolerances = {.relative = 1e-2, .absolute = 1e-2};
  const CloseRow rows[] = {{1, 1, true},
                           {1.0199, 1, true},
                           {1.0201, 1, false},
                           {0.01, 0, true},
                           {0.0101, 0, false},
                           {-101, -100, true},
                           {nan, 1, false},
                           {1, nan, false},
                           {nan, nan, false},
                           {infinity, 1, false},
                           {1, infinity, false},
                           {infinity, infinity, true},
                           {infinity, -infinity, false}};
  for (const CloseRow& row : rows) {
    EXPECT_EQ(allclose({&row.observed, 1}, {&row.expected, 1}, tolerances), row.close)
        << row.observed << " " << row.expected;
  }
}

TEST(UsualOracle, OneBadElementIsEnough) {
  const std::vector<double> expected = {1, 2, 3}, observed = {1, 2, 4};
  EXPECT_FALSE(allclose(observed, expected, {.relative = 1e-2, .absolute = 1e-2}));
  EXPECT_TRUE(allclose(expected, expected, {}));
}

TEST(UsualOracle, TheDefaultTableDependsOnTheType) {
  const auto tolerances = allclose_tables()[1].tolerances;
  EXPECT_EQ(tolerances(DType::float32).relative, 1.3e-6);
  EXPECT_EQ(tolerances(DType::float16).relative, 1e-3);
  EXPECT_EQ(tolerances(DType::bfloat16).relative, 1.6e-2);
  EXPECT_EQ(tolerances(DType::float16).absolute, 1e-5);
  EXPECT_EQ(tolerances(DType::int64).absolute, 0);
}

UsualVerdict ask_about(const std::string& kernel) {
  const Installation installation = Installation::find();
  for (const ManifestEntry& entry : load_manifest(installation)) {
    if (entry.name != kernel) continue;
    const auto schema = installation.schema(entry.op);
    const KernelUnderTest under_test = load_kernel(
        entry.source,
        build_kernel(installation, entry.source, {}, find_build_mode("none").instrumentation), {},
        *schema);
    return ask_usual_oracle(schema, *under_test.kernel);
  }
  throw std::invalid_argument(kernel);
}

TEST(UsualOracle, AcceptsARightKernelAndRejectsAWrongOne) {
  const UsualVerdict right = ask_about("gelu");
  EXPECT_THAT(right.accepts, ElementsAre(true, true));
  EXPECT_THAT(right.calls, testing::SizeIs(3));  // float32, float16, bfloat16
  EXPECT_THAT(right.calls.front(), HasSubstr("gelu float32 m=16 n=1024"));
  EXPECT_THAT(ask_about("gelu_missing_half").accepts, ElementsAre(false, false));
}

// What it is blind for: another shape, another law.
TEST(UsualOracle, AcceptsWhatIsWrongElsewhere) {
  EXPECT_THAT(ask_about("softmax_tail_leak").accepts, ElementsAre(true, true));
  EXPECT_THAT(ask_about("relu_nan_swallowed").accepts, ElementsAre(true, true));
}

TEST(UsualOracle, TheBenchmarkCallFollowsKernelAndWork) {
  const Installation installation = Installation::find();
  const auto call = [&](const std::string& op, const std::string& text) {
    const auto schema = installation.schema(op);
    const auto c = benchmark_case(schema, 0, Preconditions(*schema, text));
    return c ? describe(*c) : "none";
  };
  EXPECT_THAT(call("softmax", ""), HasSubstr("m=16 n=1024 "));
  EXPECT_THAT(call("softmax", "n < 1000"), HasSubstr("m=16 n=128 "));
  EXPECT_THAT(call("matmul", ""), HasSubstr("m=128 n=128 k=128 "));
  EXPECT_THAT(call("attention", ""), HasSubstr("h=2 m=128 n=128 d=128 "));
  EXPECT_EQ(call("softmax", "T != float32"), "none");
}

CampaignOutcome found(uint32_t seed, const std::string& gate, double seconds, uint64_t runs,
                      std::optional<double> ratio = {}) {
  CampaignOutcome outcome;
  outcome.seed = seed;
  outcome.alarms = {{gate, "softmax float32 m=1 n=1"}};
  outcome.ratio = ratio;
  outcome.seconds = seconds;
  outcome.runs = runs;
  return outcome;
}

CampaignOutcome silent(uint32_t seed, uint64_t runs, double worst_ratio) {
  CampaignOutcome outcome;
  outcome.seed = seed;
  outcome.runs = runs;
  outcome.worst_ratio = worst_ratio;
  outcome.worst_share = worst_ratio / 2;
  return outcome;
}

KernelResult result(const std::string& name, KernelGroup group, std::vector<std::string> gates,
                    std::array<bool, allclose_table_count> accepts,
                    std::vector<CampaignOutcome> guided) {
  KernelResult kernel;
  kernel.entry.name = name;
  kernel.entry.op = "softmax";
  kernel.entry.faulty = group != KernelGroup::control;
  kernel.entry.group = group;
  kernel.entry.gates = std::move(gates);
  kernel.entry.about = "x < y";
  kernel.usual = {{"softmax float32 m=16 n=1024"}, accepts};
  kernel.guided = std::move(guided);
  return kernel;
}

// Two faulty kernels, one of them named by another gate once, and a control.
Certificate example() {
  Certificate certificate;
  certificate.kernels = {
      result("leak", KernelGroup::transcription, {"CMP-03"}, {true, false},
             {found(1, "CMP-03", 0.5, 10, 4.0), found(2, "CMP-01", 0.25, 30, 3.0),
              found(3, "CMP-03", 0.75, 20, infinity)}),
      result("fill", KernelGroup::cheat, {"EXC-01", "CMP-01"}, {false, false},
             {found(1, "EXC-01", 0.5, 1), found(2, "EXC-01", 0.5, 1), found(3, "EXC-01", 0.5, 1)}),
      result("honest", KernelGroup::control, {}, {true, true}, {silent(1, 1000, 0.5)})};
  return certificate;
}

TEST(CertifyStatistics, CountsCampaigns) {
  const KernelResult kernel = example().kernels.front();
  const CampaignStatistics s = statistics(kernel.entry, kernel.guided);
  EXPECT_TRUE(s.always_found());
  EXPECT_EQ(s.named, 2u);
  EXPECT_THAT(s.otherwise, ElementsAre("CMP-01"));
  EXPECT_EQ(s.median_seconds, 0.5);
  EXPECT_EQ(s.worst_seconds, 0.75);
  EXPECT_EQ(s.median_runs, 20u);
  EXPECT_EQ(s.value_findings, 3u);
  EXPECT_EQ(s.without_tolerance, 1u);
  EXPECT_EQ(s.separation, 3.0);
}

TEST(CertifySummary, IsInLines) {
  const CertifySummary summary = summarize(example());
  EXPECT_TRUE(summary.passes());
  EXPECT_THAT(
      summary_lines(summary),
      ElementsAre("transcription mistakes found 1/1", "cheats found 1/1",
                  "further faults found 0/0", "campaigns named as the manifest says 5/6",
                  "false alarms on correct kernels 0/1 (over 1000 runs, 0 undecided)",
                  "correct kernels used at most 0.250 of a tolerance (honest)",
                  "allclose at rtol = atol = 1e-2 certified 1 of the 2 faulty ones, refused 0 of "
                  "the 1 correct ones",
                  "allclose with PyTorch's default table certified 0 of the 2 faulty ones, refused "
                  "0 of the 1 correct ones",
                  "gates exercised 2/21"));
}

TEST(CertifySummary, WhatNothingAccusedIsNotExercised) {
  for (const GateCoverage& row : summarize(example()).gates) {
    const std::string text = gate_coverage_text(row);
    if (row.gate->id == "CMP-03" || row.gate->id == "EXC-01") {
      EXPECT_EQ(text, "named 1 of the 1 kernels that list it");
    } else {  // CMP-01 did accuse a kernel, but not one whose row lists it
      EXPECT_EQ(text, "not exercised") << row.gate->id;
    }
  }
}

TEST(CertifySummary, FailsForAMissAFalseAlarmAndAProblem) {
  Certificate missed = example();
  missed.kernels[0].guided[1].alarms.clear();
  EXPECT_FALSE(summarize(missed).passes());
  EXPECT_EQ(summary_lines(summarize(missed))[0], "transcription mistakes found 0/1");

  Certificate accused = example();
  accused.kernels[2].guided[0].alarms = {{"CMP-01", "softmax float32 m=1 n=1"}};
  EXPECT_FALSE(summarize(accused).passes());

  Certificate failed = example();
  failed.kernels[2].guided[0].problem = "ended with signal 9 (Killed)";
  EXPECT_THAT(summarize(failed).problems,
              ElementsAre("honest seed 1: ended with signal 9 (Killed)"));
  EXPECT_FALSE(summarize(failed).passes());

  Certificate interrupted = example();
  interrupted.interrupted = true;
  EXPECT_FALSE(summarize(interrupted).passes());

  Certificate vacuous = example();
  vacuous.kernels[2].guided[0].excluded = 1000;
  EXPECT_THAT(summarize(vacuous).problems, ElementsAre("honest seed 1: no case was judged"));
}

TEST(CertifyReport, TextFits120Columns) {
  Certificate certificate = example();
  certificate.kernels[0].entry.name = std::string(60, 'k');
  certificate.kernels[0].unguided = certificate.kernels[0].guided;
  certificate.kernels[0].guided[1].alarms = {{"EXC-02", ""}};
  certificate.kernels[0].guided[2].alarms = {{"CMP-01", ""}};
  certificate.kernels[0].guided[0].ratio = 1.23456e+30;
  std::istringstream text(certificate_text(certificate, summarize(certificate)));
  for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 120u) << line;
}

TEST(CertifyReport, JsonHoldsTheCountsAndTheCampaigns) {
  const Certificate certificate = example();
  const auto json = nlohmann::json::parse(certificate_json(certificate, summarize(certificate)));
  const auto& summary = json.at("summary");
  EXPECT_EQ(summary.at("passes"), true);
  EXPECT_EQ(summary.at("found").at("cheat").at("count"), 1);
  EXPECT_EQ(summary.at("allclose").at("1e-2").at("certified_faulty").at("count"), 1);
  EXPECT_EQ(summary.at("correct_runs"), 1000);
  const auto& leak = json.at("kernels").at(0);
  EXPECT_EQ(leak.at("group"), "transcription");
  EXPECT_EQ(leak.at("guided").at("separation"), 3.0);
  EXPECT_EQ(leak.at("campaigns").at(1).at("alarms").at(0).at("gate"), "CMP-01");
  EXPECT_TRUE(leak.at("campaigns").at(2).at("ratio").is_null());  // infinite
  EXPECT_EQ(json.at("gates").at(0).at("status"), "not exercised");
}

TEST(CertifyReport, ThePageStandsAlone) {
  const Certificate certificate = example();
  const std::string page = certificate_html(certificate, summarize(certificate));
  EXPECT_THAT(page, HasSubstr("x &lt; y"));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
}

TEST(CampaignOutput, WithoutAnEndIsAProblem) {
  EXPECT_EQ(parse_campaign("warpfuzz: out of memory\n").problem,
            "the campaign did not say how it ended");
}

TEST(CampaignOutput, IsReadFromTheLastLine) {
  const CampaignOutcome outcome = parse_campaign(
      "{\"event\":\"start\"}\n{\"event\":\"done\",\"runs\":7,\"findings\":[],\"excluded\":2,"
      "\"undecided\":1,\"worst_ratio\":0.25,\"worst_share\":null,\"time_share\":{\"values\":1,"
      "\"kernel\":4,\"oracle\":2,\"gates\":1}}\nsome warning\n");
  EXPECT_EQ(outcome.problem, "");
  EXPECT_EQ(outcome.runs, 7u);
  EXPECT_EQ(outcome.excluded, 2u);
  EXPECT_EQ(outcome.worst_ratio, 0.25);
  EXPECT_EQ(outcome.worst_share, infinity);
  EXPECT_EQ(outcome.oracle_share, 0.25);
  EXPECT_FALSE(outcome.found());
}

}  // namespace
}  // namespace warpfuzz
