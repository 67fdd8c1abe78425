#include "fuzzers/replay.h"

#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "fuzzers/command/commands.h"
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
  std::string junit;
  bool json = false;
};

int print_replay(const std::string& file, const Reproducer& stored, const ReplayArguments& a) {
  const Replay r = replay(
      Installation::find(), stored, a.kernel,
      DeviceChoice::parse(a.device.empty() ? stored.device : a.device),
      a.sanitize.empty() ? build_instrumentation() : find_build_mode(a.sanitize).instrumentation);
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
  return fails ? exit_findings : r.not_judged.empty() ? exit_clean : exit_skipped;
}

int replay_files(const ReplayArguments& a) {
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
  sub->add_option("--junit", a->junit, "Write a JUnit report to this file");
  sub->add_flag("--json", a->json, "One JSON object a line");
  return {sub, [a] { return replay_files(*a); }};
}

}  // namespace warpfuzz
