// A mistake in kernels/manifest.json is refused by the name of its entry.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fuzzers/manifest.h"
#include "fuzzers/temporary_directory.h"

namespace warpfuzz {
namespace {

struct ManifestRow {
  std::string key, value;  // instead of the right one; empty: without it
  std::string message;
};

TEST(ManifestErrors, NameTheEntryAndWhatIsRight) {
  const TemporaryDirectory directory;
  const std::filesystem::path root = directory.path();
  std::filesystem::create_directories(root / "schemas");
  std::filesystem::create_directories(root / "kernels/faulty");
  std::ofstream(root / "schemas/softmax.json") << "{}";
  std::ofstream(root / "kernels/faulty/k.cu") << "";
  const nlohmann::json right = {
      {"name", "k"},        {"source", "faulty/k.cu"}, {"op", "softmax"},       {"kind", "faulty"},
      {"group", "further"}, {"gates", {"CMP-01"}},     {"fault", "it is wrong"}};
  Installation installation;
  installation.root = root;
  const auto load = [&](const nlohmann::json& kernels) {
    std::ofstream(root / "kernels/manifest.json") << nlohmann::json{{"kernels", kernels}};
    try {
      return fmt::format("{} kernels", load_manifest(installation).size());
    } catch (const EnvironmentError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(load(nlohmann::json::array({right})), "1 kernels");
  nlohmann::json reported = right;
  reported["report"] = "R115";
  EXPECT_EQ(load(nlohmann::json::array({reported})), "1 kernels");
  EXPECT_EQ(load_manifest(installation).front().report, "R115");

  const std::string file = (root / "kernels/manifest.json").string();
  const ManifestRow rows[] = {
      {"group", "\"furthest\"",
       "k: group: found \"furthest\", expected one of transcription, cheat, further"},
      {"group", "\"control\"",
       "k: group: found \"control\", expected one of transcription, cheat, further"},
      {"group", "", "k: group: expected a text"},
      {"gates", "[\"CMP-99\"]",
       "k: gates: found \"CMP-99\", expected some of RUN-02, MEM-01, RES-02, RUN-01, RES-01, "
       "MEM-03, RAC-01, MEM-04, MEM-02, ORD-02, STA-01, INV-01, CMP-03, PRC-02, EXC-01, EXC-02, "
       "PRC-01, ORD-01, CMP-02, ORD-03, CMP-01"},
      {"gates", "[]", "k: gates: expected a list of those that may name the fault"},
      {"op", "\"sofmax\"",
       "k: op: found \"sofmax\", expected an operator: there is no schemas/sofmax.json"},
      {"source", "\"faulty/none.cu\"",
       "k: source: found \"faulty/none.cu\", expected a file: there is no kernels/faulty/none.cu"},
      {"kind", "\"odd\"", "k: kind: found \"odd\", expected correct or faulty"},
      {"tier", "4", "k: tier: found \"4\", expected 1, 2 or 3"},
      {"device", "\"tpu\"", "k: device: found \"tpu\", expected cuda"},
      {"fault", "", "k: fault: expected a text"},
      {"report", "\"\"", "k: report: found \"\", expected R and three digits"},
      {"report", "\"R11\"", "k: report: found \"R11\", expected R and three digits"},
      {"report", "\"R1155\"", "k: report: found \"R1155\", expected R and three digits"},
      {"report", "\"R1x5\"", "k: report: found \"R1x5\", expected R and three digits"},
      {"report", "\"1154\"", "k: report: found \"1154\", expected R and three digits"},
      {"report", "115", "k: report: expected a text"},
      {"name", "", "the entry at position 0: name: expected a text"}};
  for (const ManifestRow& row : rows) {
    nlohmann::json kernel = right;
    kernel.erase(row.key);
    if (!row.value.empty()) kernel[row.key] = nlohmann::json::parse(row.value);
    EXPECT_EQ(load(nlohmann::json::array({kernel})), file + ": " + row.message);
  }
  EXPECT_EQ(load(nlohmann::json::array({right, right})),
            file + ": k: name: another entry has it too");
}

}  // namespace
}  // namespace warpfuzz
