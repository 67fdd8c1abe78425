// Every stored reproducer fails today as on the day it was written, whether its kernel is compiled
// as this build does or as the release build does, and with the same bits in the build that wrote
// it. (The host code of all builds side by side: tests/replay_across_builds.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tests/command.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> stored_reproducers() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(WARPFUZZ_SOURCE_DIR "/crashes")) {
    if (entry.path().extension() == ".wfr") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

nlohmann::json replay(const fs::path& file, std::vector<std::string> options) {
  options.insert(options.begin(), {"replay", file.string(), "--json"});
  const ProcessResult result = test::warpfuzz_command(options);
  nlohmann::json json = nlohmann::json::parse(result.output);
  EXPECT_EQ(result.exit_code, json.contains("not_judged") ? 4 : 1) << result.errors;
  return json;
}

class StoredReproducer : public testing::TestWithParam<fs::path> {};

TEST_P(StoredReproducer, FailsAsStoredInEveryBuildOfItsKernel) {
  const nlohmann::json here = replay(GetParam(), {});
  EXPECT_EQ(here.at("gate"), here.at("stored_gate"));
  const std::string writer = here.at("written_by");
  if (writer.ends_with(" " WARPFUZZ_BUILD_NAME)) {
    EXPECT_TRUE(here.at("same_outputs")) << "written by " << writer;
  }
  // Without checks the kernel shows the same, unless only checks saw it: then it does not pass.
  const nlohmann::json released = replay(GetParam(), {"--sanitize", "none"});
  if (released.contains("not_judged")) {
    EXPECT_EQ(released.at("stored_gate"), "RUN-01");
  } else if (released.at("gate") == "MEM-04") {
    // A read that ASan saw shows in the result too.
    EXPECT_THAT(released.at("stored_gate"), testing::AnyOf("MEM-04", "RUN-01"));
  } else {
    EXPECT_EQ(released.at("gate"), released.at("stored_gate"));
  }
}

INSTANTIATE_TEST_SUITE_P(Regression, StoredReproducer, testing::ValuesIn(stored_reproducers()),
                         [](const auto& row) { return row.param.stem().string(); });

}  // namespace
}  // namespace warpfuzz
