// Every kernel of the manifest, end to end: each faulty one is caught by the gate named, each
// correct one passes, within a fixed number of runs and for a fixed seed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/command.h"

namespace warpfuzz {
namespace {

struct Entry {
  std::string name, op, device;
  std::vector<std::string> gates;
  bool faulty = false;
  int tier = 2;
};

std::vector<Entry> entries() {
  std::ifstream stream(WARPFUZZ_SOURCE_DIR "/kernels/manifest.json");
  std::vector<Entry> result;
  const auto json = nlohmann::json::parse(stream);
  for (const auto& kernel : json.at("kernels")) {
    Entry entry{kernel.at("name"), kernel.at("op"), kernel.value("device", ""), {}, false, 2};
    entry.faulty = kernel.at("kind") == "faulty";
    if (entry.faulty) entry.gates = kernel.at("gates").get<std::vector<std::string>>();
    entry.tier = std::max(2, kernel.value("tier", 2));
    result.push_back(entry);
  }
  return result;
}

class Manifest : public testing::TestWithParam<Entry> {};

TEST_P(Manifest, IsJudgedRight) {
  const Entry& entry = GetParam();
  if (!entry.device.empty()) GTEST_SKIP() << "shows on " << entry.device << " only";
  const test::TemporaryDirectory work;
  // Correct kernels see all tiers: strided views and empty axes too.
  const ProcessResult result = test::warpfuzz_command(
      {"fuzz", entry.op, "--kernel", entry.name, "--work", work.path(), "--json", "--seed", "7",
       "--tier", std::to_string(entry.faulty ? entry.tier : 3), "--time", "60s", "--runs",
       entry.faulty ? "200000" : "3000"});
  ASSERT_EQ(result.exit_code, entry.faulty ? 1 : 0) << result.output << result.errors;
  const size_t last = result.output.rfind("{\"event\":\"done\"");
  ASSERT_NE(last, std::string::npos) << result.output << result.errors;
  const auto done = nlohmann::json::parse(result.output.substr(last));
  EXPECT_GT(done.at("runs"), 0);
  EXPECT_LT(done.at("excluded"), done.at("runs"));
  if (entry.faulty) {
    EXPECT_THAT(entry.gates, testing::Contains(done.at("findings").at(0).at("gate")))
        << result.output;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Manifest, testing::ValuesIn(entries()),
                         [](const auto& row) { return row.param.name; });

TEST(ManifestFile, EverySourceIsListedAndEveryEntryExists) {
  std::set<std::string> listed, present;
  std::ifstream stream(WARPFUZZ_SOURCE_DIR "/kernels/manifest.json");
  const auto json = nlohmann::json::parse(stream);
  for (const auto& kernel : json.at("kernels")) {
    listed.insert(kernel.at("source"));
  }
  // Of PTX kernels the manifests, which say how to launch them.
  const std::pair<const char*, const char*> kinds[] = {
      {"correct", ".cu"}, {"faulty", ".cu"}, {"ptx", ".json"}};
  for (const auto& [folder, extension] : kinds) {
    for (const auto& file : std::filesystem::directory_iterator(
             std::filesystem::path(WARPFUZZ_SOURCE_DIR) / "kernels" / folder)) {
      if (file.path().extension() == extension) {
        present.insert(fmt::format("{}/{}", folder, file.path().filename().string()));
      }
    }
  }
  EXPECT_EQ(listed, present);
}

// A new operator is three files: schema, reference (checked by the oracle's test) and kernel.
TEST(ManifestFile, EveryOperatorHasACorrectAndAFaultyKernel) {
  for (const auto& file : std::filesystem::directory_iterator(WARPFUZZ_SOURCE_DIR "/schemas")) {
    if (file.path().extension() != ".json") continue;
    const std::string op = file.path().stem().string();
    bool correct = false, faulty = false;
    for (const Entry& entry : entries()) {
      if (entry.op == op) (entry.faulty ? faulty : correct) = true;
    }
    EXPECT_TRUE(correct) << "no correct kernel for " << op;
    EXPECT_TRUE(faulty) << "no faulty kernel for " << op;
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(WARPFUZZ_SOURCE_DIR) / "reference" /
                                        (op + ".cc")))
        << "no reference for " << op;
  }
}

}  // namespace
}  // namespace warpfuzz
