#include "fuzzers/bench.h"

#include <fmt/format.h>

#include <memory>

#include "crashes/durable_file.h"
#include "fuzzers/command/commands.h"
#include "fuzzers/kernel_under_test.h"

namespace warpfuzz {
namespace {

struct BenchArguments {
  std::string op;
  std::string kernel;
  std::string against;
  std::string device = "cuda";
  std::vector<std::string> axes;
  std::string dtype;
  std::string json;
  size_t repeats = 50;
};

BenchOptions options_of(const BenchArguments& a) {
  const Installation installation = Installation::find();
  BenchOptions options;
  options.device = DeviceChoice::parse(a.device);
  if (!options.device.cuda) {
    throw UsageError(fmt::format(
        "--device {}: the CPU device tells nothing about speed; expected cuda or cuda:N",
        a.device));
  }
  options.schema = installation.schema(a.op);
  for (const std::string& kernel : {a.kernel, a.against}) {
    if (!kernel.empty()) options.kernels.push_back(find_kernel(installation, kernel));
  }
  for (const std::string& axes : a.axes) options.axes.push_back(parse_axes(*options.schema, axes));
  options.dtypes = parse_dtypes(*options.schema, a.dtype);
  if (a.repeats < 1 || a.repeats > 10000) throw UsageError("--repeats: expected 1 to 10000");
  options.repeats = a.repeats;
  return options;
}

int bench(const BenchArguments& a) {
  const BenchOptions options = options_of(a);
  if (!a.json.empty() && a.json != "-") {
    const std::filesystem::path directory = std::filesystem::absolute(a.json).parent_path();
    if (!std::filesystem::is_directory(directory)) {
      throw UsageError(
          fmt::format("--json {}: there is no directory {}", a.json, directory.string()));
    }
    check_replaceable(a.json);
  }
  const BenchResult result = run_bench(options);
  const std::string json = bench_json(result);
  fmt::print("{}", a.json == "-" ? json : bench_text(result));
  if (!a.json.empty() && a.json != "-") {
    replace_file(a.json, {reinterpret_cast<const uint8_t*>(json.data()), json.size()});
  }
  return result.problem.empty() ? exit_clean : exit_findings;
}

}  // namespace

Command bench_command(CLI::App& app) {
  auto a = std::make_shared<BenchArguments>();
  CLI::App* sub = app.add_subcommand("bench", "The speed of a kernel that is right, on a GPU");
  sub->add_option("op", a->op, "Operator (`warpfuzz list`)")->required();
  sub->add_option("--kernel", a->kernel, "A .cu file, a .so file, or a name from `warpfuzz list`")
      ->required();
  sub->add_option("--against", a->against, "Another kernel, timed in turns with it");
  sub->add_option("--device", a->device, "Where the kernels run: cuda or cuda:N")
      ->capture_default_str();
  sub->add_option("--axes", a->axes,
                  "A shape: m=4096,n=1024; may be repeated (default: a small, a medium and a large "
                  "one)")
      ->allow_extra_args(false);
  sub->add_option("--dtype", a->dtype, "Dtype variables: T=float16,U=float32");
  sub->add_option("--repeats", a->repeats, "Samples of each kind")->capture_default_str();
  sub->add_option("--json", a->json, "Write all results there; - for stdout, instead of the table");
  return {sub, [a] { return bench(*a); }};
}

}  // namespace warpfuzz
