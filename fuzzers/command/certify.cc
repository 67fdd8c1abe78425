#include "fuzzers/certify.h"

#include <fmt/format.h>

#include <memory>
#include <thread>

#include "fuzzers/certify_report.h"
#include "fuzzers/command/commands.h"
#include "fuzzers/command/output_file.h"
#include "fuzzers/duration.h"

namespace warpfuzz {
namespace {

struct CertifyArguments {
  std::string time = "60s";
  std::string correct_time = "20s";
  std::string json;
  std::string html;
  std::string device = "cpu";
  std::string prebuilt;
  CertifyOptions certify;
};

int certify(const CertifyArguments& a) {
  CertifyOptions options = a.certify;
  if (options.seeds < 1 || options.seeds > 1000) throw UsageError("--seeds: expected 1 to 1000");
  if (options.jobs < 1 || options.jobs > 1024) throw UsageError("--jobs: expected 1 to 1024");
  options.seconds = parse_duration("--time", a.time);
  options.correct_seconds = parse_duration("--correct-time", a.correct_time);
  options.device = DeviceChoice::parse(a.device);
  options.prebuilt = a.prebuilt;
  if (!a.prebuilt.empty() && !std::filesystem::is_directory(a.prebuilt)) {
    throw UsageError(fmt::format("--prebuilt {}: expected a directory", a.prebuilt));
  }
  check_output_file("--json", a.json);
  check_output_file("--html", a.html);
  const Certificate certificate = certify(Installation::find(), options);
  const CertifySummary summary = summarize(certificate);
  const std::string json = certificate_json(certificate, summary);
  fmt::print("{}", a.json == "-" ? json : certificate_text(certificate, summary));
  if (!a.json.empty() && a.json != "-") write_output_file(a.json, json);
  if (!a.html.empty()) write_output_file(a.html, certificate_html(certificate, summary));
  return summary.passes() ? exit_clean : exit_findings;
}

}  // namespace

Command certify_command(CLI::App& app) {
  auto a = std::make_shared<CertifyArguments>();
  a->certify.jobs = std::max(1u, std::thread::hardware_concurrency());
  CLI::App* sub = app.add_subcommand(
      "certify", "What the gates find and falsely accuse, over the kernels of this project");
  sub->add_option("--ops", a->certify.ops, "Only kernels of these operators: a,b")->delimiter(',');
  sub->add_option("--kernel", a->certify.kernels, "Only this kernel; may be repeated");
  sub->add_option("--device", a->device, "cpu, cuda or cuda:N")->capture_default_str();
  sub->add_option("--prebuilt", a->prebuilt,
                  "Directory of objects <kernel>.so for --device, in place of compiling");
  sub->add_option("--jobs", a->certify.jobs, "Campaigns at once (default: one per processor)");
  CLI::Option* seeds =
      sub->add_option("--seeds", a->certify.seeds, "Campaigns on each faulty kernel")
          ->capture_default_str();
  sub->add_option("--time", a->time, "Of each of them at most")->capture_default_str();
  CLI::Option* correct_time =
      sub->add_option("--correct-time", a->correct_time, "Of the campaign on each correct kernel")
          ->capture_default_str();
  sub->add_flag("--quick", a->certify.quick,
                "One seed, no unguided baseline, correct kernels for a fixed number of runs")
      ->excludes(seeds)
      ->excludes(correct_time);
  sub->add_option("--json", a->json, "Write all results there; - for stdout, instead of the table");
  sub->add_option("--html", a->html, "Write a page with all results there");
  return {sub, [a] { return certify(*a); }};
}

}  // namespace warpfuzz
