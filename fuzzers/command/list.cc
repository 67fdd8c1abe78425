#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "fuzzers/command/commands.h"
#include "fuzzers/manifest.h"
#include "gates/gate.h"

namespace warpfuzz {
namespace {

int list(bool json) {
  const Installation installation = Installation::find();
  const auto schemas = load_schemas(installation.schemas());
  const auto kernels = load_manifest(installation);
  if (json) {
    nlohmann::ordered_json out;
    for (const auto& schema : schemas) {
      out["operators"].push_back({{"name", schema->name}, {"description", schema->description}});
    }
    for (const ManifestEntry& kernel : kernels) {
      out["kernels"].push_back({{"name", kernel.name},
                                {"op", kernel.op},
                                {"faulty", kernel.faulty},
                                {"group", name(kernel.group)},
                                {"gates", kernel.gates},
                                {"tier", kernel.tier},
                                {"about", kernel.about},
                                {"source", kernel.source.string()}});
    }
    for (const Gate& gate : gates()) {
      out["gates"].push_back({{"id", gate.id}, {"title", gate.title}, {"holds", gate.holds}});
    }
    fmt::print("{}\n", out.dump());
    return exit_clean;
  }
  fmt::print("operators\n");
  for (const auto& schema : schemas) fmt::print("  {:<12} {}\n", schema->name, schema->description);
  fmt::print("\nkernels of this project\n");
  for (const ManifestEntry& kernel : kernels) {
    fmt::print("  {:<32} {:<10} {:<7} {}\n", kernel.name, kernel.op,
               kernel.faulty ? fmt::format("{}", fmt::join(kernel.gates, " ")) : "correct",
               kernel.about);
  }
  fmt::print("\ngates\n");
  for (const Gate& gate : gates()) fmt::print("  {}  {:<24} {}\n", gate.id, gate.title, gate.holds);
  return exit_clean;
}

}  // namespace

Command list_command(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  CLI::App* arguments = app.add_subcommand("list", "Operators, kernels and gates");
  arguments->add_flag("--json", *json, "One JSON object");
  return {arguments, [json] { return list(*json); }};
}

}  // namespace warpfuzz
