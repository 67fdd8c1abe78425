#include "fuzzers/replay.h"

#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "crashes/durable_file.h"
#include "fuzzers/command/commands.h"
#include "fuzzers/compute_sanitizer.h"
#include "fuzzers/finding.h"
#include "fuzzers/isolated.h"
#include "fuzzers/junit.h"
#include "fuzzers/report.h"

namespace warpfuzz {
namespace {

struct ReplayArguments {
  std::vector<std::string> files;
  std::string kernel;
  std::string device;    // empty: the one stored
  std::string sanitize;  // empty: as this build compiles kernels
  std::string sanitizer;
  std::string output;
  std::string junit;
  bool json = false;
};

DeviceChoice device_of(const Reproducer& stored, const ReplayArguments& a) {
  const DeviceChoice device = DeviceChoice::parse(a.device.empty() ? stored.device : a.device);
  if (!a.sanitizer.empty() && !device.cuda) {
    throw UsageError(fmt::format(
        "--sanitizer {}: compute-sanitizer watches a GPU; give --device cuda (on the CPU device: "
        "--sanitize)",
        a.sanitizer));
  }
  return device;
}

// As describe_finding() shows those of a finding.
std::string describe_reported(const std::vector<Fault>& faults) {
  Evidence evidence;
  add_faults(evidence, faults);
  return describe_faults(evidence);
}

nlohmann::ordered_json reported_json(const std::vector<Fault>& faults) {
  auto list = nlohmann::ordered_json::array();
  for (const Fault& fault : faults) {
    list.push_back({{"kind", name(fault.kind)},
                    {"message", fault.message},
                    {"file", fault.file},
                    {"line", fault.line},
                    {"block", {fault.block.x, fault.block.y, fault.block.z}},
                    {"thread", {fault.thread.x, fault.thread.y, fault.thread.z}}});
  }
  return list;
}

int print_replay(const std::string& file, const Reproducer& stored, const ReplayArguments& a) {
  const Replay r =
      replay(Installation::find(), stored,
             {.kernel = a.kernel,
              .device = device_of(stored, a),
              .instrumentation = a.sanitize.empty() ? build_instrumentation()
                                                    : find_build_mode(a.sanitize).instrumentation,
              .sanitizer = a.sanitizer,
              .file = file});
  const bool fails = r.result.outcome == TrialOutcome::violation;
  const std::string now = fails ? r.reproduced.gate : "pass";
  if (a.json) {
    nlohmann::ordered_json json = {{"reproducer", file},
                                   {"signature", stored.signature},
                                   {"stored_gate", stored.gate},
                                   {"written_by", stored.warpfuzz_version},
                                   {"same_gate", r.same_gate},
                                   {"gate", fails ? nlohmann::ordered_json(now) : nullptr},
                                   {"same_outputs", r.same_outputs}};
    if (!r.not_judged.empty()) json["not_judged"] = r.not_judged;
    if (!a.sanitizer.empty()) json["reported"] = reported_json(r.reported);
    fmt::print("{}\n", json.dump());
  } else if (fails) {
    fmt::print("{}", describe_finding(r.reproduced, {}));
    fmt::print("  replayed    {}: {}, outputs {}\n", file,
               r.same_gate ? "the same gate" : "stored as " + stored.gate,
               r.same_outputs ? "the same bits as stored" : "other bits than stored");
  } else if (!r.not_judged.empty()) {
    fmt::print("{}: not judged: {} (stored as {})\n", file, r.not_judged, stored.signature);
  } else {
    fmt::print("{}: passes now (stored as {})\n", file, stored.signature);
  }
  if (!a.json && !fails && !r.reported.empty()) {
    fmt::print("  {} reports, and no result depends on it:\n{}", a.sanitizer,
               describe_reported(r.reported));
  }
  if (fails && !a.output.empty()) write_reproducer(a.output, r.reproduced);
  return fails ? exit_findings : r.not_judged.empty() ? exit_clean : exit_skipped;
}

void check_arguments(const ReplayArguments& a) {
  if (!a.output.empty() && a.files.size() != 1) {
    throw UsageError(
        fmt::format("--output {}: expected one reproducer, found {}", a.output, a.files.size()));
  }
  if (!a.output.empty()) check_replaceable(a.output);
  if (a.sanitizer.empty()) return;
  check_sanitizer_tool(a.sanitizer);
  find_compute_sanitizer();
}

int replay_files(const ReplayArguments& a) {
  check_arguments(a);
  bool failed = false, skipped = false;
  std::vector<JUnitCase> cases;
  for (const std::string& file : a.files) {
    const Reproducer stored = read_reproducer(file);
    const IsolatedResult run = run_isolated([&] { return print_replay(file, stored, a); });
    fmt::print("{}", run.output);
    int code = run.ending.code;
    if (run.ending.by_signal) {
      code = exit_findings;
      if (a.json) {
        fmt::print("{}\n", nlohmann::ordered_json({{"reproducer", file},
                                                   {"signature", stored.signature},
                                                   {"stored_gate", stored.gate},
                                                   {"written_by", stored.warpfuzz_version},
                                                   {"same_gate", stored.gate == "RUN-01"},
                                                   {"gate", "RUN-01"},
                                                   {"same_outputs", stored.outputs.empty()},
                                                   {"ended", run.ending.text()}})
                               .dump());
      } else {
        fmt::print("{}: the kernel ended its process again: {}\n", file, run.ending.text());
      }
    } else if (code != exit_clean && code != exit_findings && code != exit_skipped) {
      return code;  // the message is on stderr
    }
    failed = failed || code == exit_findings;
    skipped = skipped || code == exit_skipped;
    cases.push_back({file, stored.signature, code == exit_findings ? run.output : "",
                     code == exit_skipped ? run.output : ""});
  }
  if (!a.junit.empty()) write_junit(a.junit, "warpfuzz replay", cases);
  return failed ? exit_findings : skipped ? exit_skipped : exit_clean;
}

}  // namespace

Command replay_command(CLI::App& app) {
  auto a = std::make_shared<ReplayArguments>();
  CLI::App* sub = app.add_subcommand("replay", "Run stored reproducers again: exit 1 if any fails");
  sub->add_option("files", a->files, "Reproducers (.wfr)")->required();
  sub->add_option("--kernel", a->kernel, "Another kernel than the one stored");
  sub->add_option("--device", a->device, "Another device than the one stored");
  sub->add_option("--sanitize", a->sanitize,
                  "Compile the kernel with: address, race or none (default: as this build does)");
  sub->add_option("--sanitizer", a->sanitizer,
                  "Watch the call with compute-sanitizer first: memcheck, racecheck, initcheck or "
                  "synccheck");
  sub->add_option("--output", a->output, "Write what the finding is now to this file");
  sub->add_option("--junit", a->junit, "Write a JUnit report to this file");
  sub->add_flag("--json", a->json, "One JSON object a line");
  return {sub, [a] { return replay_files(*a); }};
}

}  // namespace warpfuzz
