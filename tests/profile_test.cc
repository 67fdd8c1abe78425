// `warpfuzz profile`: what it measures on kernels whose errors are known, and its three outputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/command.h"

namespace warpfuzz {
namespace {

using nlohmann::json;
using test::warpfuzz_command;
using testing::HasSubstr;
using testing::Not;

std::string read(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

json profile_of(const std::string& op, const std::string& kernel, const std::string& runs,
                const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"profile", op,   "--kernel", kernel,
                                        "--runs",  runs, "--json",   "-"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProcessResult result = warpfuzz_command(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  return json::parse(result.output);
}

void expect_counts_add_up(const json& row) {
  const auto count = [&](const char* key) { return row.at(key).get<uint64_t>(); };
  const uint64_t measured = row.at("ulp").at("count");
  EXPECT_EQ(count("elements"), measured + count("nan") + count("infinite") + count("undecided") +
                                   count("unexpected_finite"));
  EXPECT_EQ(row.at("error_over_tolerance").at("count"), measured - count("without_tolerance"));
}

TEST(Profile, ReluErrsByItsRoundingAlone) {
  const json profile = profile_of("relu", "relu", "120");
  const json& total = profile.at("total");
  EXPECT_EQ(total.at("calls"), 120);
  EXPECT_EQ(total.at("failed"), 0);
  EXPECT_EQ(total.at("wrong"), 0);
  EXPECT_GT(total.at("ulp").at("count"), 1000);
  EXPECT_GT(total.at("nan"), 0);  // laws with specials
  for (const json& dtypes : profile.at("dtypes")) {
    const std::string types = dtypes.at("dtypes");
    // An output of the input's type holds it exactly; others round it once.
    const double most = types.find('=') == types.npos ? 0 : 0.5;
    EXPECT_LE(dtypes.at("total").at("ulp").at("max"), most) << types;
    for (const json& law : dtypes.at("laws")) expect_counts_add_up(law);
  }
}

TEST(Profile, SoftmaxErrsByItsRoundingAndLittleElse) {
  const json profile = profile_of("softmax", "softmax", "200");
  expect_counts_add_up(profile.at("total"));
  EXPECT_EQ(profile.at("total").at("wrong"), 0);
  bool half = false;
  for (const json& dtypes : profile.at("dtypes")) {
    const json& total = dtypes.at("total");
    EXPECT_LE(total.at("error_over_tolerance").at("max"), 1) << dtypes.at("dtypes");
    EXPECT_LE(total.at("tolerance_used").at("max"), 1) << dtypes.at("dtypes");
    if (dtypes.at("dtypes") != "float16") continue;
    half = true;
    // A float16 output of a float32 computation: the rounding, and next to nothing beside it.
    for (const json& law : dtypes.at("laws")) {
      if (law.at("law") != "normal") continue;
      EXPECT_LE(law.at("ulp").at("max"), 0.51);
      EXPECT_GE(law.at("ulp").at("p99"), 0.4);
      EXPECT_THAT(law.at("ulp").at("worst").at("call").get<std::string>(),
                  HasSubstr("softmax float16 "));
      EXPECT_THAT(law.at("ulp").at("worst").at("element").get<std::string>(), HasSubstr("y["));
    }
  }
  EXPECT_TRUE(half);
}

TEST(Profile, AFaultyKernelHasOneToo) {
  const json profile = profile_of("softmax", "softmax_tail_leak", "100");
  EXPECT_GT(profile.at("total").at("wrong"), 0);
  EXPECT_GT(profile.at("total").at("error_over_tolerance").at("max"), 10);
}

TEST(Profile, TheSeedAndTheRunsDecideIt) {
  const auto without_time = [](json profile) {
    profile.erase("seconds");
    return profile;
  };
  const json first = without_time(profile_of("softmax", "softmax", "60", {"--seed", "7"}));
  EXPECT_EQ(first, without_time(profile_of("softmax", "softmax", "60", {"--seed", "7"})));
  EXPECT_NE(first, without_time(profile_of("softmax", "softmax", "60", {"--seed", "8"})));
}

TEST(Profile, TextFitsAndThePlotStandsAlone) {
  const test::TemporaryDirectory directory;
  const std::string svg = directory.path() + "/plot.svg", file = directory.path() + "/all.json";
  const ProcessResult result = warpfuzz_command(
      {"profile", "softmax", "--kernel", "softmax", "--runs", "80", "--svg", svg, "--json", file});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("error in ulp"));
  EXPECT_THAT(result.output, HasSubstr(": 80 calls in "));
  EXPECT_THAT(result.output, HasSubstr("\nall laws "));
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) EXPECT_LE(line.size(), 120u) << line;
  }
  EXPECT_EQ(json::parse(read(file)).at("op"), "softmax");
  const std::string plot = read(svg);
  EXPECT_TRUE(plot.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(plot, HasSubstr(">cancelling_pairs</text>"));
  EXPECT_THAT(plot, Not(HasSubstr("href")));
  EXPECT_THAT(plot, Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace warpfuzz
