// How long each faulty kernel of the manifest survives, from an empty corpus, with guidance and
// without (every case drawn anew). Prints a Markdown table. Not part of ctest.
//
//   time_to_finding [--seeds 10] [--time 60] [--jobs 2] [--kernel NAME]...
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "fuzzers/kernel_under_test.h"
#include "fuzzers/manifest.h"
#include "tests/command.h"

namespace warpfuzz {
namespace {

struct Outcome {
  bool found = false;
  std::string gate;
  double seconds = 0;
  uint64_t runs = 0;
};

// Start to finding, the process's start and the load of the compiled kernel included.
Outcome run_campaign_once(const ManifestEntry& entry, int seed, int time, bool guided) {
  const test::TemporaryDirectory work;
  std::vector<std::string> arguments = {"fuzz",
                                        entry.op,
                                        "--kernel",
                                        entry.source.string(),
                                        "--work",
                                        work.path(),
                                        "--json",
                                        "--seed",
                                        std::to_string(seed),
                                        "--tier",
                                        std::to_string(std::max(2, entry.tier)),
                                        "--time",
                                        fmt::format("{}s", time),
                                        "--no-seeds"};
  if (!guided) arguments.push_back("--unguided");
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = test::warpfuzz_command(arguments);
  Outcome outcome;
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const size_t last = result.output.rfind("{\"event\":\"done\"");
  if (last == std::string::npos) {
    fmt::print(stderr, "{}: {}\n", entry.name, result.errors);
    return outcome;
  }
  const auto done = nlohmann::json::parse(result.output.substr(last));
  outcome.runs = done.at("runs");
  outcome.found = !done.at("findings").empty();
  if (outcome.found) outcome.gate = done.at("findings").at(0).at("gate");
  return outcome;
}

struct Summary {
  size_t found = 0;
  size_t named = 0;                 // by the gate of the manifest
  std::set<std::string> otherwise;  // the gates that named it instead
  double median = 0, worst = 0;
  uint64_t median_runs = 0;
};

bool is_named(const ManifestEntry& entry, const std::string& gate) {
  return std::find(entry.gates.begin(), entry.gates.end(), gate) != entry.gates.end();
}

Summary summarize(const ManifestEntry& entry, std::vector<Outcome> outcomes) {
  Summary summary;
  for (const Outcome& o : outcomes) {
    summary.found += o.found;
    const bool named = o.found && is_named(entry, o.gate);
    summary.named += named;
    if (o.found && !named) summary.otherwise.insert(o.gate);
  }
  const auto middle = outcomes.begin() + static_cast<std::ptrdiff_t>(outcomes.size() / 2);
  std::nth_element(outcomes.begin(), middle, outcomes.end(),
                   [](const Outcome& a, const Outcome& b) { return a.runs < b.runs; });
  summary.median_runs = middle->runs;
  std::nth_element(outcomes.begin(), middle, outcomes.end(),
                   [](const Outcome& a, const Outcome& b) { return a.seconds < b.seconds; });
  summary.median = middle->seconds;
  for (const Outcome& o : outcomes) summary.worst = std::max(summary.worst, o.seconds);
  return summary;
}

int measure(int seeds, int time, int jobs, const std::vector<std::string>& only) {
  const Installation installation = Installation::find();
  std::vector<ManifestEntry> entries;
  for (const ManifestEntry& entry : load_manifest(installation)) {
    const bool wanted =
        only.empty() || std::find(only.begin(), only.end(), entry.name) != only.end();
    if (entry.faulty && wanted && entry.device.empty()) entries.push_back(entry);
  }
  fmt::print(
      "| kernel | gate | found | named | otherwise | median s | worst s | median runs | unguided "
      "found | "
      "unguided median s | unguided median runs "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const ManifestEntry& entry : entries) {
    build_kernel(installation, entry.source, {});  // compiling is not part of the time
    std::vector<Outcome> guided(static_cast<size_t>(seeds)), unguided = guided;
    std::atomic<int> next = 0;
    std::vector<std::jthread> workers;
    for (int j = 0; j < jobs; ++j) {
      workers.emplace_back([&] {
        for (int i = next++; i < 2 * seeds; i = next++) {
          const auto seed = static_cast<size_t>(i / 2);
          (i % 2 == 0 ? guided : unguided)[seed] =
              run_campaign_once(entry, i / 2 + 1, time, i % 2 == 0);
        }
      });
    }
    workers.clear();  // joins
    const Summary g = summarize(entry, guided), u = summarize(entry, unguided);
    fmt::print("| {} | {} | {}/{} | {}/{} | {} | {:.2f} | {:.2f} | {} | {}/{} | {:.2f} | {} |\n",
               entry.name, fmt::join(entry.gates, " "), g.found, seeds, g.named, seeds,
               fmt::join(g.otherwise, " "), g.median, g.worst, g.median_runs, u.found, seeds,
               u.median, u.median_runs);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace warpfuzz

int main(int argc, char** argv) {
  CLI::App app{"Time to the finding for each faulty kernel"};
  int seeds = 10, time = 60, jobs = 2;
  std::vector<std::string> kernels;
  app.add_option("--seeds", seeds);
  app.add_option("--time", time, "Seconds per campaign");
  app.add_option("--jobs", jobs);
  app.add_option("--kernel", kernels);
  CLI11_PARSE(app, argc, argv);
  return warpfuzz::measure(seeds, time, jobs, kernels);
}
