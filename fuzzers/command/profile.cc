#include <fmt/format.h>

#include <memory>
#include <optional>

#include "fuzzers/command/commands.h"
#include "fuzzers/command/output_file.h"
#include "fuzzers/duration.h"
#include "fuzzers/profile_report.h"

namespace warpfuzz {
namespace {

struct ProfileArguments {
  std::string op;
  std::string kernel;
  std::string device = "cpu";
  std::string time = "20s";
  std::string json;
  std::string svg;
  int tier = 2;
  std::optional<uint64_t> runs;  // instead of the time
  ProfileOptions profile;
};

int profile(const ProfileArguments& a) {
  ProfileOptions options = a.profile;
  options.limits.max_tier = static_cast<Tier>(a.tier);
  if (a.runs) {
    options.runs = *a.runs;
    if (options.runs == 0) throw UsageError("--runs 0: expected at least 1");
  } else {
    options.seconds = parse_duration("--time", a.time);
    if (options.seconds == 0) throw UsageError("--time 0: expected more");
  }
  const DeviceChoice device = DeviceChoice::parse(a.device);
  if (a.svg == "-") throw UsageError("--svg -: expected a file");
  check_output_file("--json", a.json);
  check_output_file("--svg", a.svg);
  const Installation installation = Installation::find();
  const auto schema = installation.schema(a.op);
  const std::filesystem::path source = find_kernel(installation, a.kernel);
  const std::filesystem::path object = build_kernel(installation, source, device);
  const KernelUnderTest under_test = load_kernel(source, object, device, *schema);
  const ValueProfile measured = measure_profile(schema, under_test, options);
  const ProfileHeader header = {schema->name, under_test.identity.path, device.text(), a.tier,
                                options.seed};
  const std::string json = profile_json(header, measured);
  fmt::print("{}", a.json == "-" ? json : profile_text(header, measured));
  if (!a.json.empty() && a.json != "-") write_output_file(a.json, json);
  if (!a.svg.empty()) write_output_file(a.svg, profile_svg(header, measured));
  return exit_clean;
}

}  // namespace

Command profile_command(CLI::App& app) {
  auto a = std::make_shared<ProfileArguments>();
  CLI::App* sub = app.add_subcommand(
      "profile", "How far a kernel's outputs lie from the unrounded reference, per dtype and law");
  sub->add_option("op", a->op, "Operator (`warpfuzz list`)")->required();
  sub->add_option("--kernel", a->kernel, "A .cu file, a .so file, or a name from `warpfuzz list`")
      ->required();
  sub->add_option("--device", a->device, "Where the kernel runs: cpu, cuda or cuda:N")
      ->capture_default_str();
  CLI::Option* time =
      sub->add_option("--time", a->time, "How long: 90s, 10m, 2h, 1d")->capture_default_str();
  sub->add_option("--runs", a->runs, "So many calls instead")->excludes(time);
  sub->add_option("--seed", a->profile.seed, "Same seed and runs: same calls")
      ->capture_default_str();
  sub->add_option("--tier", a->tier, "Highest tier of calls: 1 everyday, 2 unusual, 3 exotic")
      ->check(CLI::Range(1, 3))
      ->capture_default_str();
  sub->add_option("--json", a->json, "Write everything there; - for stdout, instead of the table");
  sub->add_option("--svg", a->svg, "Write plots there: cumulative distributions, a line per law");
  return {sub, [a] { return profile(*a); }};
}

}  // namespace warpfuzz
