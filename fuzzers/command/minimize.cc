#include <fmt/format.h>

#include <memory>

#include "crashes/durable_file.h"
#include "crashes/minimizer.h"
#include "fuzzers/command/commands.h"
#include "fuzzers/finding.h"
#include "fuzzers/isolated.h"
#include "fuzzers/replay.h"
#include "fuzzers/report.h"

namespace warpfuzz {
namespace {

struct MinimizeArguments {
  std::string file;
  std::string output;
  std::string kernel;
  int seconds = 60;
};

int minimize_file(const MinimizeArguments& a) {
  const Installation installation = Installation::find();
  const std::string output = a.output.empty() ? a.file : a.output;
  const Reproducer stored = read_reproducer(a.file);
  check_replaceable(output);  // before the work, not after it
  const auto schema = installation.schema(stored.op);
  const Case start = restore_call(stored.call, schema);
  const DeviceChoice device = DeviceChoice::parse(stored.device);
  const auto source = find_kernel(installation, a.kernel.empty() ? stored.kernel.path : a.kernel);
  const auto object = build_kernel(installation, source, device);

  const auto race_build = race_build_of(source, device);
  if (race_build) race_build();

  // Each trial in a process of its own, a copy of this one: the kernel may end it.
  const auto trial_fails = [&](const Case& c) {
    const IsolatedResult run = run_isolated([&] {
      const KernelUnderTest under_test = load_kernel(source, object, device, *schema);
      Trial trial(schema, *under_test.kernel, {.race_build = race_build});
      const auto signature = violation_signature(c, trial.run(c));
      return signature && signature->text() == stored.signature ? exit_findings : exit_clean;
    });
    if (run.ending.by_signal) return crash_signature(c).text() == stored.signature;
    return run.ending.code == exit_findings;
  };
  const MinimizeResult result =
      minimize(start, trial_fails,
               {.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(a.seconds)});
  if (result.stop == MinimizeStop::does_not_fail) {
    throw UsageError(fmt::format(
        "{}: generating its values anew does not show {} on this kernel; nothing was changed",
        a.file, stored.signature));
  }
  const IsolatedResult written = run_isolated([&] {
    const KernelUnderTest under_test = load_kernel(source, object, device, *schema);
    Trial trial(schema, *under_test.kernel, {.race_build = race_build});
    const TrialResult smallest = trial.run(result.smallest);
    const Reproducer r = make_reproducer(result.smallest, stored.limits, smallest,
                                         under_test.identity, device.text());
    write_reproducer(output, r);
    fmt::print("{}", describe_finding(r, output));
    return exit_clean;
  });
  if (written.ending.by_signal) {
    KernelIdentity identity = stored.kernel;
    const Reproducer r = make_crash_reproducer(result.smallest, stored.limits, identity,
                                               device.text(), written.ending.text());
    write_reproducer(output, r);
    fmt::print("{}", describe_finding(r, output));
  } else if (written.ending.code != exit_clean) {
    return written.ending.code;
  }
  fmt::print("{}", written.output);
  fmt::print(stderr, "{} trials, {} steps, stopped: {}\n", result.trials, result.steps,
             name(result.stop));
  return exit_clean;
}

}  // namespace

Command minimize_command(CLI::App& app) {
  auto a = std::make_shared<MinimizeArguments>();
  CLI::App* sub =
      app.add_subcommand("minimize", "Make a reproducer smaller, staying on its finding");
  sub->add_option("file", a->file, "Reproducer (.wfr)")->required();
  sub->add_option("--output", a->output, "Where to write (default: in place)");
  sub->add_option("--kernel", a->kernel, "Another kernel than the one stored");
  sub->add_option("--seconds", a->seconds, "Time to spend")->capture_default_str();
  return {sub, [a] { return minimize_file(*a); }};
}

}  // namespace warpfuzz
