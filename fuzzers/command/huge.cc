#include "fuzzers/huge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "fuzzers/command/commands.h"
#include "fuzzers/kernel_under_test.h"
#include "reference/crew.h"
#include "seeds/random_laws.h"

namespace warpfuzz {
namespace {

struct HugeArguments {
  std::string op;
  std::string kernel;
  std::string device = "cuda";
  std::string dtype;
  std::string law = "normal";
  std::string prebuilt;
  std::optional<size_t> only;
  bool json = false;
};

ValueLaw parse_law(const std::string& text) {
  const std::optional<ValueLaw> law = parse_value_law(text);
  if (law && is_random(*law)) return *law;
  std::vector<std::string_view> names;
  for (size_t i = 0; i < value_law_count; ++i) {
    if (is_random(static_cast<ValueLaw>(i))) names.push_back(name(static_cast<ValueLaw>(i)));
  }
  throw UsageError(fmt::format("--law {}: expected one of {}", text, fmt::join(names, ", ")));
}

HugeOptions options_of(const HugeArguments& a) {
  const Installation installation = Installation::find();
  HugeOptions options;
  options.device = DeviceChoice::parse(a.device);
  if (!options.device.cuda) {
    throw UsageError(fmt::format(
        "--device {}: calls of more than 2^31 elements need a GPU; expected cuda or cuda:N",
        a.device));
  }
  options.schema = installation.schema(a.op);
  options.kernel = find_kernel(installation, a.kernel);
  options.dtypes = parse_dtypes(*options.schema, a.dtype);
  options.law = parse_law(a.law);
  if (!a.prebuilt.empty() && !std::filesystem::is_directory(a.prebuilt)) {
    throw UsageError(fmt::format("--prebuilt {}: expected a directory", a.prebuilt));
  }
  options.prebuilt = a.prebuilt;
  options.only = a.only;
  return options;
}

// The command that makes one call alone: calls are numbered the same each time.
std::string again(const HugeArguments& a, size_t number) {
  std::string text = fmt::format("scripts/warpfuzz huge {} --kernel {}", a.op, a.kernel);
  const auto add = [&](const char* option, const std::string& value, const char* usual) {
    if (value != usual) text += fmt::format(" {} {}", option, value);
  };
  add("--device", a.device, "cuda");
  add("--dtype", a.dtype, "");
  add("--law", a.law, "normal");
  add("--prebuilt", a.prebuilt, "");
  return text + fmt::format(" --only {}", number);
}

int huge(const HugeArguments& a) {
  const HugeOptions options = options_of(a);
  Crew::set_threads(options.device.host_threads(1));
  const std::string kernel = shown_path(options.kernel);
  int code = exit_clean;
  const auto tell = [&](const HugeVerdict& verdict) {
    fmt::print("{}",
               a.json ? huge_json(verdict) : huge_text(verdict, kernel, again(a, verdict.number)));
    std::fflush(stdout);
  };
  run_huge(options, tell, [&](const HugeReport& report) {
    fmt::print("{}", a.json ? huge_json(report) : huge_text(report));
    std::fflush(stdout);
    code = report.findings > 0 ? exit_findings : report.exercised == 0 ? exit_skipped : exit_clean;
    if (report.device_lost) std::_Exit(code);
  });
  return code;
}

}  // namespace

Command huge_command(CLI::App& app) {
  auto a = std::make_shared<HugeArguments>();
  CLI::App* sub =
      app.add_subcommand("huge", "Calls whose tensors have more than 2^31 elements, on a GPU");
  sub->add_option("op", a->op, "Operator (`warpfuzz list`)")->required();
  sub->add_option("--kernel", a->kernel, "A .cu, .so or .json file, or a name from `warpfuzz list`")
      ->required();
  sub->add_option("--device", a->device, "Where the kernel runs: cuda or cuda:N")
      ->capture_default_str();
  sub->add_option("--dtype", a->dtype,
                  "Dtype variables: T=float16,U=float16 (default: all everyday ones)");
  sub->add_option("--law", a->law, "Of the values, where an input has it")->capture_default_str();
  sub->add_option("--only", a->only, "One call, by its number");
  sub->add_option("--prebuilt", a->prebuilt,
                  "A directory of objects built elsewhere: <kernel>.so, huge_tensors.so");
  sub->add_flag("--json", a->json, "One JSON object for each call, and one at the end");
  return {sub, [a] { return huge(*a); }};
}

}  // namespace warpfuzz
