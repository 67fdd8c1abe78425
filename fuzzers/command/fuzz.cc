#include <fmt/format.h>

#include <memory>

#include "fuzzers/campaign.h"
#include "fuzzers/campaign_reporters.h"
#include "fuzzers/command/commands.h"
#include "fuzzers/duration.h"

namespace warpfuzz {
namespace {

struct FuzzArguments {
  std::string op;
  std::string kernel;
  std::string device = "cpu";
  std::string time = "60s";
  std::string worker_timeout = "3m";
  std::string work;
  int tier = 2;
  int size_class = size_class_count - 1;
  bool unguided = false;
  bool no_seeds = false;
  bool json = false;
  CampaignOptions campaign;
};

int fuzz(const FuzzArguments& arguments) {
  if (arguments.campaign.workers < 1 || arguments.campaign.workers > 1024) {
    throw UsageError("--workers: expected 1 to 1024");
  }
  if (arguments.campaign.threads > most_threads) {
    throw UsageError(fmt::format("--threads: expected at most {}", most_threads));
  }
  const Installation installation = Installation::find();
  CampaignOptions campaign = arguments.campaign;
  WorkerOptions& worker = campaign.worker;
  worker.device = DeviceChoice::parse(arguments.device);
  const auto schema = installation.schema(arguments.op);
  worker.op = schema->name;
  worker.kernel = find_kernel(installation, arguments.kernel);
  worker.limits.max_tier = static_cast<Tier>(arguments.tier);
  worker.limits.max_size_class = static_cast<uint8_t>(arguments.size_class);
  worker.guided = !arguments.unguided;
  worker.work =
      std::filesystem::absolute(arguments.work.empty() ? std::filesystem::path("warpfuzz-work") /
                                                             worker.op / worker.kernel.stem()
                                                       : std::filesystem::path(arguments.work));
  campaign.time = std::chrono::duration<double>(parse_duration("--time", arguments.time));
  campaign.worker_timeout =
      std::chrono::duration<double>(parse_duration("--worker-timeout", arguments.worker_timeout));
  if (!(campaign.worker_timeout.count() >= 1)) {
    throw UsageError("--worker-timeout: expected at least 1s; starting takes a worker that long");
  }
  campaign.seeds = !arguments.no_seeds && !arguments.unguided;
  const auto race_build = prebuild_race_kernel(worker.kernel, worker.device);
  worker.object = build_kernel(installation, worker.kernel, worker.device);
  check_module(worker.kernel, worker.device, *schema);
  const auto reporter = make_campaign_reporter(arguments.json);
  const CampaignState state = run_campaign(campaign, *reporter);
  return state.findings.empty() ? exit_clean : exit_findings;
}

}  // namespace

Command fuzz_command(CLI::App& app) {
  auto a = std::make_shared<FuzzArguments>();
  CLI::App* sub =
      app.add_subcommand("fuzz", "Hunt for inputs on which a kernel breaks its contract");
  sub->add_option("op", a->op, "Operator (`warpfuzz list`)")->required();
  sub->add_option(
         "--kernel", a->kernel,
         "A .cu file, a .so file, the manifest of a PTX or cubin kernel (.json), or a name from "
         "`warpfuzz list`")
      ->required();
  sub->add_option("--device", a->device, "Where the kernel runs: cpu, cuda or cuda:N")
      ->capture_default_str();
  sub->add_option("--time", a->time, "How long: 90s, 10m, 2h, 1d")->capture_default_str();
  sub->add_option("--runs", a->campaign.runs, "Stop after so many cases (0: no bound)");
  sub->add_option("--seed", a->campaign.seed,
                  "Same seed, runs, threads and one worker: same campaign")
      ->capture_default_str();
  sub->add_option("--workers", a->campaign.workers, "Processes that share the corpus")
      ->capture_default_str();
  sub->add_option(
      "--threads", a->campaign.threads,
      "Of each worker: those beside the first make the next cases ready and keep a GPU at work "
      "(default: with a GPU, the processors that workers leave)");
  sub->add_option("--worker-timeout", a->worker_timeout,
                  "A worker that finishes no case for so long is replaced")
      ->capture_default_str();
  sub->add_option("--work", a->work,
                  "Corpus, findings and logs (default warpfuzz-work/<op>/<kernel>)");
  sub->add_option("--tier", a->tier, "Highest tier of cases: 1 everyday, 2 unusual, 3 exotic")
      ->check(CLI::Range(1, 3))
      ->capture_default_str();
  sub->add_option("--size-class", a->size_class,
                  "Largest cases: 0 tiny, 1 small, 2 medium, 3 large")
      ->check(CLI::Range(0, int{size_class_count} - 1))
      ->capture_default_str();
  sub->add_flag("--keep-going", a->campaign.worker.keep_going,
                "Go on past findings, each signature once");
  sub->add_flag("--no-seeds", a->no_seeds, "Start from an empty corpus");
  sub->add_flag("--unguided", a->unguided, "Draw every case anew: the baseline of guidance");
  sub->add_flag("--json", a->json, "One JSON object a line");
  return {sub, [a] { return fuzz(*a); }};
}

}  // namespace warpfuzz
