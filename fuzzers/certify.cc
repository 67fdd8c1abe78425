#include "fuzzers/certify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fuzzers/child_jobs.h"
#include "fuzzers/kernel_under_test.h"
#include "fuzzers/temporary_directory.h"
#include "kernels/cuda/mps.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr double preparation_seconds = 300;  // three compilations on a busy machine
constexpr double grace_seconds = 120;        // to start, to minimise, to stop
constexpr uint64_t quick_correct_runs = 1000;
constexpr double quick_correct_seconds = 300;  // never reached: the runs are the bound
constexpr int all_tiers = 3;

bool is_wanted(const std::vector<std::string>& wanted, const std::string& name) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

bool shows_on(const ManifestEntry& entry, const DeviceChoice& device) {
  return entry.device.empty() || entry.device == (device.cuda ? "cuda" : "cpu");
}

// What campaigns run: a source, or the object that was built from it elsewhere.
fs::path kernel_file(const ManifestEntry& entry, const CertifyOptions& options) {
  const fs::path object = options.prebuilt / (entry.name + ".so");
  return !options.prebuilt.empty() && fs::exists(object) ? object : entry.source;
}

std::vector<ManifestEntry> select_kernels(const Installation& installation,
                                          const CertifyOptions& options) {
  const std::vector<ManifestEntry> manifest = load_manifest(installation);
  for (const std::string& op : options.ops) installation.schema(op);
  for (const std::string& kernel : options.kernels) {
    const auto found =
        std::find_if(manifest.begin(), manifest.end(),
                     [&](const ManifestEntry& entry) { return entry.name == kernel; });
    if (found == manifest.end()) {
      throw UsageError(fmt::format(
          "--kernel {}: expected the name of a kernel that `warpfuzz list` prints", kernel));
    }
    if (!shows_on(*found, options.device)) {
      throw UsageError(
          fmt::format("--kernel {}: its fault shows on the device {} only", kernel, found->device));
    }
  }
  std::vector<ManifestEntry> selected;
  for (const ManifestEntry& entry : manifest) {
    if (shows_on(entry, options.device) && is_wanted(options.ops, entry.op) &&
        is_wanted(options.kernels, entry.name)) {
      selected.push_back(entry);
    }
  }
  if (selected.empty()) {
    throw UsageError(fmt::format("no kernel among those of --kernel is one of the operators {}",
                                 fmt::join(options.ops, ", ")));
  }
  return selected;
}

// The last line with `key` first; of what a campaign or a preparation printed.
Json last_object(const std::string& output, const std::string& key) {
  const size_t begin = output.rfind("{\"" + key);
  if (begin == output.npos) return {};
  return Json::parse(output.substr(begin, output.find('\n', begin) - begin), nullptr, false);
}

// The message of a process that failed.
std::string complaint(const JobResult& job) {
  if (job.timed_out) return "did not end in time";
  const size_t message = job.output.rfind("warpfuzz: ");
  if (message == job.output.npos) return "ended with " + job.ending.text();
  return job.output.substr(message + 10, job.output.find('\n', message) - message - 10);
}

// Largest of the finding's elements, where a value is what is wrong with them.
std::optional<double> value_ratio(const Reproducer& reproducer) {
  std::optional<double> ratio;
  for (const EvidenceElement& element : reproducer.evidence.elements) {
    if (element.kind == "non_finite") continue;
    ratio = std::max(ratio.value_or(0), element.ratio);
  }
  return ratio;
}

// In a process of its own: everything is compiled, and the usual oracle asked. Its kernel is built
// as benchmarks build it, without checks; on a GPU there are none.
int prepare(const Installation& installation, const ManifestEntry& entry,
            const CertifyOptions& options) {
  const fs::path file = kernel_file(entry, options);
  fs::path plain = build_kernel(installation, file, options.device);
  if (!options.device.cuda) {
    build_kernel(installation, file, options.device, race_instrumentation);
    plain =
        build_kernel(installation, file, options.device, find_build_mode("none").instrumentation);
  }
  const auto schema = installation.schema(entry.op);
  const KernelUnderTest kernel = load_kernel(file, plain, options.device, *schema);
  const UsualVerdict verdict = ask_usual_oracle(schema, *kernel.kernel);
  fmt::print("{}\n",
             nlohmann::ordered_json{{"calls", verdict.calls}, {"accepts", verdict.accepts}}.dump());
  return exit_clean;
}

ChildJob preparation(const Installation& installation, const CertifyOptions& options,
                     KernelResult& result) {
  ChildJob job;
  job.title = result.entry.name;
  job.time_limit = std::chrono::duration<double>(preparation_seconds);
  job.start = [&](const fs::path&, const fs::path& log) {
    return WorkerProcess([&] { return prepare(installation, result.entry, options); }, log);
  };
  job.finish = [&](const JobResult& done) {
    const Json verdict = last_object(done.output, "calls");
    if (!verdict.is_object() || done.ending.by_signal || done.ending.code != exit_clean) {
      result.problem = complaint(done);
      return;
    }
    result.usual.calls = verdict.at("calls").get<std::vector<std::string>>();
    result.usual.accepts = verdict.at("accepts").get<decltype(result.usual.accepts)>();
  };
  return job;
}

std::vector<std::string> campaign_arguments(const ManifestEntry& entry,
                                            const CertifyOptions& options, uint32_t seed,
                                            bool guided) {
  std::vector<std::string> arguments = {"fuzz",
                                        entry.op,
                                        "--kernel",
                                        kernel_file(entry, options).string(),
                                        "--json",
                                        "--seed",
                                        std::to_string(seed),
                                        "--device",
                                        options.device.text(),
                                        "--threads",
                                        std::to_string(options.device.host_threads(options.jobs))};
  const auto add = [&](std::initializer_list<std::string> more) {
    arguments.insert(arguments.end(), more);
  };
  if (entry.faulty) {
    // An empty corpus: what is measured is the search, not the stored seeds.
    add({"--tier", std::to_string(std::max(2, entry.tier)), "--no-seeds", "--time",
         std::to_string(options.seconds)});
    if (!guided) add({"--unguided"});
  } else {
    add({"--tier", std::to_string(all_tiers), "--keep-going"});
    if (options.quick) {
      add({"--no-seeds", "--runs", std::to_string(quick_correct_runs), "--time",
           std::to_string(quick_correct_seconds)});
    } else {
      add({"--time", std::to_string(options.correct_seconds)});
    }
  }
  return arguments;
}

ChildJob campaign(const KernelResult& result, const CertifyOptions& options, uint32_t seed,
                  bool guided, CampaignOutcome& outcome) {
  ChildJob job;
  job.title = fmt::format("{} seed {}{}", result.entry.name, seed, guided ? "" : " unguided");
  job.time_limit = std::chrono::duration<double>(
      grace_seconds + std::max({options.seconds, options.correct_seconds, quick_correct_seconds}));
  job.start = [arguments = campaign_arguments(result.entry, options, seed, guided)](
                  const fs::path& directory, const fs::path& log) mutable {
    arguments.insert(arguments.end(), {"--work", directory.string()});
    return WorkerProcess(arguments, log);
  };
  job.finish = [seed, &outcome](const JobResult& done) {
    outcome = parse_campaign(done.output);
    outcome.seed = seed;
    outcome.seconds = done.seconds;
    if (done.timed_out || done.ending.by_signal || done.ending.code > exit_findings) {
      outcome.problem = complaint(done);
    }
  };
  return job;
}

void add_campaigns(std::vector<ChildJob>& jobs, KernelResult& result,
                   const CertifyOptions& options) {
  const uint32_t seeds = result.entry.faulty && !options.quick ? options.seeds : 1;
  result.guided.resize(seeds);
  if (result.entry.faulty && !options.quick) result.unguided.resize(seeds);
  for (uint32_t seed = 1; seed <= seeds; ++seed) {
    jobs.push_back(campaign(result, options, seed, true, result.guided[seed - 1]));
    if (result.unguided.empty()) continue;
    jobs.push_back(campaign(result, options, seed, false, result.unguided[seed - 1]));
  }
}

// What could not run beside kernels that bring the device down, one by one and without the service.
bool run_again(Certificate& certificate, std::optional<cuda::Mps>& mps) {
  mps.reset();
  std::vector<ChildJob> jobs;
  for (KernelResult& result : certificate.kernels) {
    for (const bool guided : {true, false}) {
      for (CampaignOutcome& outcome : guided ? result.guided : result.unguided) {
        if (outcome.problem.empty()) continue;
        jobs.push_back(campaign(result, certificate.options, outcome.seed, guided, outcome));
      }
    }
  }
  return run_child_jobs(std::move(jobs), 1, "certify: campaigns run again");
}

void drop_missing_campaigns(Certificate& certificate) {
  certificate.interrupted = true;
  const auto is_missing = [](const CampaignOutcome& outcome) { return outcome.seed == 0; };
  for (KernelResult& result : certificate.kernels) {
    std::erase_if(result.guided, is_missing);
    std::erase_if(result.unguided, is_missing);
  }
}

}  // namespace

CampaignOutcome parse_campaign(const std::string& output) {
  CampaignOutcome outcome;
  const Json done = last_object(output, "event\":\"done\"");
  if (!done.is_object()) {
    outcome.problem = "the campaign did not say how it ended";
    return outcome;
  }
  outcome.runs = done.at("runs");
  outcome.excluded = done.at("excluded");
  outcome.undecided = done.at("undecided");
  // A ratio that is not finite was written as null.
  const auto ratio = [&](const char* key) {
    return done.at(key).is_null() ? INFINITY : done.at(key).get<double>();
  };
  outcome.worst_ratio = ratio("worst_ratio");
  outcome.worst_share = ratio("worst_share");
  double total = 0;
  for (const Json& seconds : done.at("time_share")) total += seconds.get<double>();
  if (total > 0) outcome.oracle_share = done.at("time_share").at("oracle").get<double>() / total;
  for (const Json& finding : done.at("findings")) {
    const Reproducer reproducer =
        read_reproducer(fs::path(finding.at("reproducer").get<std::string>()));
    if (outcome.alarms.empty()) outcome.ratio = value_ratio(reproducer);
    outcome.alarms.push_back({reproducer.gate, reproducer.description});
  }
  return outcome;
}

Certificate certify(const Installation& installation, const CertifyOptions& wanted) {
  Certificate certificate;
  certificate.options = wanted;
  CertifyOptions& options = certificate.options;
  const TemporaryDirectory scratch;
  std::optional<cuda::Mps> mps;
  if (options.device.cuda && options.jobs > 1) {
    mps.emplace(scratch.path());
    if (!mps->problem().empty()) {
      fmt::print(stderr, "certify: {}: one campaign at a time\n", mps->problem());
      options.jobs = 1;
    }
  }
  for (ManifestEntry& entry : select_kernels(installation, options)) {
    certificate.kernels.push_back({std::move(entry), {}, {}, {}, {}});
  }
  std::vector<ChildJob> jobs;
  for (KernelResult& result : certificate.kernels) {
    jobs.push_back(preparation(installation, options, result));
  }
  bool complete = run_child_jobs(std::move(jobs), options.jobs, "certify: kernels compiled");
  jobs.clear();
  for (KernelResult& result : certificate.kernels) {
    if (result.problem.empty()) add_campaigns(jobs, result, options);
  }
  complete = complete && run_child_jobs(std::move(jobs), options.jobs, "certify: campaigns");
  if (options.device.cuda && complete) complete = run_again(certificate, mps);
  if (!complete) drop_missing_campaigns(certificate);
  return certificate;
}

}  // namespace warpfuzz
