#include <fmt/format.h>

#include <memory>

#include "crashes/durable_file.h"
#include "fuzzers/campaign.h"
#include "fuzzers/command/commands.h"
#include "fuzzers/coverage_report.h"
#include "fuzzers/device_coverage.h"

namespace warpfuzz {
namespace {

struct CoverageArguments {
  std::string op;
  std::string kernel;
  std::string device = "cpu";
  std::string work;
  std::string html;
  double seconds = 20;
  int tier = 2;
};

// A campaign for the sake of its corpus.
class QuietReporter : public CampaignReporter {
 public:
  void started(const CampaignOptions& options) override {
    fmt::print(stderr, "warpfuzz: no corpus in {}: a campaign of {:.0f} s makes one\n",
               shown_path(options.worker.work), options.time.count());
  }
  void progress(const CampaignState&) override {}
  void finding(const Finding&) override {}
  void note(const std::string&) override {}
  void done(const CampaignState& state) override {
    fmt::print(stderr, "warpfuzz: {} cases, {} findings\n", state.runs, state.findings.size());
  }
};

bool has_corpus(const WorkDirectory& work) {
  std::error_code error;
  return std::filesystem::is_directory(work.corpus(), error) &&
         !std::filesystem::is_empty(work.corpus(), error);
}

void make_corpus(const Installation& installation, const CoverageArguments& a,
                 const WorkerOptions& worker) {
  CampaignOptions campaign;
  campaign.worker = worker;
  campaign.worker.object = build_kernel(installation, worker.kernel, worker.device);
  campaign.worker.keep_going = true;
  campaign.time = std::chrono::duration<double>(a.seconds);
  QuietReporter reporter;
  run_campaign(campaign, reporter);
}

int coverage(const CoverageArguments& a) {
  const Installation installation = Installation::find();
  const auto schema = installation.schema(a.op);
  WorkerOptions worker;
  worker.op = schema->name;
  worker.kernel = find_kernel(installation, a.kernel);
  worker.device = DeviceChoice::parse(a.device);
  if (!worker.device.cuda && worker.kernel.extension() != ".cu") {
    throw UsageError(fmt::format("--kernel {}: coverage needs the source, a .cu file", a.kernel));
  }
  worker.limits.max_tier = static_cast<Tier>(a.tier);
  worker.work = std::filesystem::absolute(a.work.empty() ? std::filesystem::path("warpfuzz-work") /
                                                               worker.op / worker.kernel.stem()
                                                         : std::filesystem::path(a.work));
  check_module(worker.kernel, worker.device, *schema);
  const WorkDirectory work{worker.work};
  if (!has_corpus(work)) make_corpus(installation, a, worker);
  const KernelCoverage measured =
      worker.device.cuda
          ? measure_device_coverage(installation, schema, worker.kernel, work, worker.limits,
                                    worker.device)
          : measure_coverage(installation, schema, worker.kernel, work, worker.limits);
  fmt::print("{}", coverage_text(measured));
  if (!a.html.empty()) {
    const std::string page = coverage_html(measured);
    replace_file(a.html, std::vector<uint8_t>(page.begin(), page.end()));
  }
  return exit_clean;
}

}  // namespace

Command coverage_command(CLI::App& app) {
  auto a = std::make_shared<CoverageArguments>();
  CLI::App* sub = app.add_subcommand(
      "coverage", "Lines and branches of a kernel that no case of a corpus reaches");
  sub->add_option("op", a->op, "Operator (`warpfuzz list`)")->required();
  sub->add_option("--kernel", a->kernel,
                  "A .cu file or a name from `warpfuzz list`; on a GPU also what `fuzz` takes")
      ->required();
  sub->add_option("--device", a->device,
                  "Where the kernel runs: cpu, or cuda or cuda:N for the lines of the device code")
      ->capture_default_str();
  sub->add_option("--work", a->work,
                  "Of the campaign whose corpus runs (default warpfuzz-work/<op>/<kernel>)");
  sub->add_option("--html", a->html, "Write the whole source with counts there");
  sub->add_option("--seconds", a->seconds, "Of a campaign, where there is no corpus yet")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub->add_option("--tier", a->tier, "That of the campaign")
      ->check(CLI::Range(1, 3))
      ->capture_default_str();
  return {sub, [a] { return coverage(*a); }};
}

}  // namespace warpfuzz
