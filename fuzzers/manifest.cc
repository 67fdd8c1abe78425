#include "fuzzers/manifest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "gates/gate.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class EntryReader {
 public:
  EntryReader(const Installation& installation, std::string where, const Json& json)
      : installation_(installation), where_(std::move(where)), json_(json) {}

  ManifestEntry read() const {
    ManifestEntry entry;
    entry.name = text("name");
    entry.op = text("op");
    if (!fs::is_regular_file(installation_.schemas() / (entry.op + ".json"))) {
      refuse("op", entry.op, fmt::format("an operator: there is no schemas/{}.json", entry.op));
    }
    const std::string source = text("source");
    entry.source = installation_.kernels() / source;
    if (!fs::is_regular_file(entry.source)) {
      refuse("source", source, fmt::format("a file: there is no kernels/{}", source));
    }
    const std::string kind = text("kind");
    if (kind != "correct" && kind != "faulty") refuse("kind", kind, "correct or faulty");
    entry.faulty = kind == "faulty";
    entry.group = group(entry.faulty);
    if (entry.faulty) entry.gates = gate_names();
    entry.device = json_.value("device", "");
    if (!entry.device.empty() && entry.device != "cuda") refuse("device", entry.device, "cuda");
    entry.tier = json_.value("tier", 1);
    if (entry.tier < 1 || entry.tier > 3) refuse("tier", std::to_string(entry.tier), "1, 2 or 3");
    entry.about = text(entry.faulty ? "fault" : "style");
    if (json_.contains("report")) entry.report = report();
    return entry;
  }

 private:
  [[noreturn]] void refuse(std::string_view key, std::string_view found,
                           std::string_view expected) const {
    throw EnvironmentError(
        fmt::format("{}: {}: found \"{}\", expected {}", where_, key, found, expected));
  }

  std::string text(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_string()) {
      throw EnvironmentError(fmt::format("{}: {}: expected a text", where_, key));
    }
    return found->get<std::string>();
  }

  // A correct kernel is a control without saying so.
  KernelGroup group(bool faulty) const {
    if (!faulty && !json_.contains("group")) return KernelGroup::control;
    const std::string group = text("group");
    const auto* const found =
        std::find(kernel_group_names.begin(), kernel_group_names.end(), group);
    const auto index = static_cast<size_t>(found - kernel_group_names.begin());
    if (index == kernel_group_names.size() || (index == 0) == faulty) {
      refuse("group", group, faulty ? "one of transcription, cheat, further" : "control");
    }
    return static_cast<KernelGroup>(index);
  }

  std::string report() const {
    const std::string id = text("report");
    const bool digits = id.find_first_not_of("0123456789", 1) == std::string::npos;
    if (id.size() != 4 || id[0] != 'R' || !digits) refuse("report", id, "R and three digits");
    return id;
  }

  std::vector<std::string> gate_names() const {
    const auto found = json_.find("gates");
    if (found == json_.end() || !found->is_array() || found->empty()) {
      throw EnvironmentError(
          fmt::format("{}: gates: expected a list of those that may name the fault", where_));
    }
    const auto names = found->get<std::vector<std::string>>();
    for (const std::string& gate : names) {
      if (find_gate(gate) != nullptr) continue;
      std::vector<std::string_view> known;
      for (const Gate& row : gates()) known.push_back(row.id);
      refuse("gates", gate, fmt::format("some of {}", fmt::join(known, ", ")));
    }
    return names;
  }

  const Installation& installation_;
  std::string where_;
  const Json& json_;
};

}  // namespace

bool ManifestEntry::may_be_named_by(std::string_view gate) const {
  return std::find(gates.begin(), gates.end(), gate) != gates.end();
}

std::vector<ManifestEntry> load_manifest(const Installation& installation) {
  const fs::path file = installation.kernels() / "manifest.json";
  std::vector<ManifestEntry> entries;
  std::set<std::string> names;
  std::string where = file.string();
  try {
    std::ifstream stream(file);
    const auto json = Json::parse(stream);
    for (const auto& kernel : json.at("kernels")) {
      // Until it has a name, an entry is called by its position.
      where = fmt::format(
          "{}: {}", file.string(),
          kernel.value("name", fmt::format("the entry at position {}", entries.size())));
      entries.push_back(EntryReader(installation, where, kernel).read());
      if (!names.insert(entries.back().name).second) {
        throw EnvironmentError(where + ": name: another entry has it too");
      }
    }
  } catch (const Json::exception& error) {
    throw EnvironmentError(fmt::format("{}: {}", where, error.what()));
  }
  return entries;
}

}  // namespace warpfuzz
