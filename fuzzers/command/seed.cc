#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "crashes/reproducer.h"
#include "crashes/stored_call.h"
#include "fuzzers/command/commands.h"
#include "fuzzers/corpus.h"
#include "fuzzers/installation.h"
#include "seeds/boundary.h"

namespace warpfuzz {
namespace {

struct SeedArguments {
  std::string op;
  std::string directory;
  int tier = 2;
  std::vector<std::string> reproducers;
};

// The call of each reproducer, as a file of the reproducer's name.
size_t write_calls(const std::filesystem::path& directory,
                   const std::shared_ptr<const Schema>& schema,
                   const std::vector<std::string>& reproducers) {
  std::filesystem::create_directories(directory);
  for (const std::string& name : reproducers) {
    const std::filesystem::path path = name;
    const std::vector<uint8_t> bytes = encode(restore_call(read_reproducer(path).call, schema));
    std::ofstream stream(directory / path.stem(), std::ios::binary);
    stream << std::string(bytes.begin(), bytes.end());
    stream.close();
    if (!stream) throw std::system_error(errno, std::generic_category(), directory / path.stem());
  }
  return reproducers.size();
}

int seed(const SeedArguments& arguments) {
  const auto schema = Installation::find().schema(arguments.op);
  CaseLimits limits;
  limits.max_tier = static_cast<Tier>(arguments.tier);
  const std::string directory =
      arguments.directory.empty() ? schema->name + "_fuzzer_seed_corpus" : arguments.directory;
  const size_t count = arguments.reproducers.empty()
                           ? write_corpus(directory, boundary_cases(schema, limits))
                           : write_calls(directory, schema, arguments.reproducers);
  fmt::print("{} seed cases in {}\n", count, directory);
  return exit_clean;
}

}  // namespace

Command seed_command(CLI::App& app) {
  auto a = std::make_shared<SeedArguments>();
  CLI::App* sub = app.add_subcommand("seed", "Write the boundary cases of an operator as a corpus");
  sub->add_option("op", a->op, "Operator (`warpfuzz list`)")->required();
  sub->add_option("--output", a->directory, "Directory (default <op>_fuzzer_seed_corpus)");
  sub->add_option("--from", a->reproducers, "The calls of these reproducers (.wfr) instead");
  sub->add_option("--tier", a->tier, "Highest tier of cases")->check(CLI::Range(1, 3));
  return {sub, [a] { return seed(*a); }};
}

}  // namespace warpfuzz
