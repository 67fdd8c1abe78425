#include <fmt/format.h>

#include <memory>

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
};

int seed(const SeedArguments& arguments) {
  const auto schema = Installation::find().schema(arguments.op);
  CaseLimits limits;
  limits.max_tier = static_cast<Tier>(arguments.tier);
  const std::string directory =
      arguments.directory.empty() ? schema->name + "_fuzzer_seed_corpus" : arguments.directory;
  const size_t count = write_corpus(directory, boundary_cases(schema, limits));
  fmt::print("{} seed cases in {}\n", count, directory);
  return exit_clean;
}

}  // namespace

Command seed_command(CLI::App& app) {
  auto a = std::make_shared<SeedArguments>();
  CLI::App* sub = app.add_subcommand("seed", "Write the boundary cases of an operator as a corpus");
  sub->add_option("op", a->op, "Operator (`warpfuzz list`)")->required();
  sub->add_option("--output", a->directory, "Directory (default <op>_fuzzer_seed_corpus)");
  sub->add_option("--tier", a->tier, "Highest tier of cases")->check(CLI::Range(1, 3));
  return {sub, [a] { return seed(*a); }};
}

}  // namespace warpfuzz
