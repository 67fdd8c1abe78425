#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "crashes/durable_file.h"
#include "fuzzers/command/commands.h"
#include "fuzzers/installation.h"
#include "fuzzers/report.h"
#include "reference/number_format.h"

namespace warpfuzz {
namespace {

constexpr size_t shown_values = 8;
constexpr size_t most_case_bytes = 1 << 16;

struct ShowArguments {
  std::string file;
  std::string op;
  std::string case_file;
  int tier = 3;
};

void print_tensor(const char* role, const NamedTensor& named) {
  std::vector<double> values = decode_tensor(named.tensor);
  const bool cut = values.size() > shown_values;
  if (cut) values.resize(shown_values);
  fmt::print("  {} {} {}[{}]: {:.9g}{}\n", role, named.name, name(named.tensor.dtype),
             fmt::join(named.tensor.shape, ","), fmt::join(values, ", "), cut ? ", ..." : "");
}

int show(const ShowArguments& a) {
  if (!a.op.empty()) {
    const CaseLimits limits{.max_tier = static_cast<Tier>(a.tier)};
    const Case c =
        decode(Installation::find().schema(a.op), read_file(a.file, most_case_bytes), limits);
    fmt::print("{}  (tier {}, work {})\n", describe(c), static_cast<int>(tier(c)), c.work());
    return exit_clean;
  }
  const Reproducer r = read_reproducer(a.file);
  if (!a.case_file.empty()) replace_file(a.case_file, r.case_bytes);
  fmt::print("{}", describe_finding(r, a.file));
  fmt::print("  made by     warpfuzz {}, {}, device {}{}\n", r.warpfuzz_version, r.toolchain,
             r.device, r.date.empty() ? "" : ", " + r.date);
  for (const NamedTensor& input : r.inputs) print_tensor("input", input);
  for (const NamedTensor& output : r.outputs) print_tensor("output", output);
  return exit_clean;
}

}  // namespace

Command show_command(CLI::App& app) {
  auto a = std::make_shared<ShowArguments>();
  CLI::App* sub = app.add_subcommand("show", "Print a reproducer, or with --op a corpus file");
  sub->add_option("file", a->file, "Reproducer (.wfr), or bytes of a case")->required();
  sub->add_option("--op", a->op, "Decode the file as a case of this operator");
  sub->add_option("--case", a->case_file, "Write the case's bytes there: a seed for a corpus");
  sub->add_option("--tier", a->tier, "Tier under which the bytes decode")->check(CLI::Range(1, 3));
  return {sub, [a] { return show(*a); }};
}

}  // namespace warpfuzz
