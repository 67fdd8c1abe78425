#include "fuzzers/replay.h"

#include <fmt/format.h>

#include "fuzzers/compute_sanitizer.h"
#include "fuzzers/finding.h"

namespace warpfuzz {
namespace {

std::vector<Tensor> stored_inputs(const Reproducer& stored, const Case& c) {
  std::vector<Tensor> inputs;
  for (const TensorSpec& spec : c.schema->inputs) {
    const NamedTensor* found = nullptr;
    for (const NamedTensor& input : stored.inputs) {
      if (input.name == spec.name) found = &input;
    }
    if (found == nullptr) {
      throw ReproducerError(fmt::format("the reproducer has no input '{}'", spec.name));
    }
    if (found->tensor.dtype != c.dtype(spec) || found->tensor.shape != c.shape(spec)) {
      throw ReproducerError(fmt::format(
          "input '{}' of the reproducer does not have the type and shape of its call", spec.name));
    }
    inputs.push_back(found->tensor);
  }
  return inputs;
}

bool same_outputs(const Reproducer& stored, const std::vector<Tensor>& outputs) {
  if (stored.outputs.size() != outputs.size()) return false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!(stored.outputs[i].tensor == outputs[i])) return false;
  }
  return true;
}

// Faults that only a kernel compiled with checks can show.
struct CheckedFault {
  FaultKind kind;
  bool Instrumentation::* check;
  std::string_view sanitizer;
};
constexpr CheckedFault checked_faults[] = {
    {FaultKind::out_of_bounds_read, &Instrumentation::address, "AddressSanitizer"},
    {FaultKind::out_of_bounds_write, &Instrumentation::address, "AddressSanitizer"},
    {FaultKind::misaligned_access, &Instrumentation::undefined, "UndefinedBehaviorSanitizer"},
    {FaultKind::undefined_behavior, &Instrumentation::undefined, "UndefinedBehaviorSanitizer"},
};

std::string unseen_fault(const Reproducer& stored, const Instrumentation& instrumentation) {
  for (const EvidenceFault& fault : stored.evidence.faults) {
    for (const CheckedFault& row : checked_faults) {
      if (fault.kind == name(row.kind) && !(instrumentation.*row.check)) {
        return fmt::format("the kernel was compiled without {}, which saw {}", row.sanitizer,
                           fault.kind);
      }
    }
  }
  return "";
}

// Without counters: they are no business of the kernel's.
std::vector<Fault> watch(const Installation& installation, const std::filesystem::path& source,
                         const ReplayOptions& options) {
  constexpr Instrumentation plain = {.coverage = false, .address = false, .undefined = false};
  return run_compute_sanitizer(options.sanitizer,
                               {.reproducer = options.file,
                                .source = source,
                                .object = build_kernel(installation, source, options.device, plain),
                                .device = options.device});
}

}  // namespace

ReplayedCall replayed_call(const Reproducer& stored, const std::shared_ptr<const Schema>& schema) {
  ReplayedCall call{.c = restore_call(stored.call, schema), .inputs = {}};
  call.inputs = stored_inputs(stored, call.c);
  return call;
}

Replay replay(const Installation& installation, const Reproducer& stored,
              const ReplayOptions& options) {
  const DeviceChoice& device = options.device;
  const auto schema = installation.schema(stored.op);
  Replay replay;
  ReplayedCall call = replayed_call(stored, schema);
  replay.c = call.c;
  const std::filesystem::path source =
      find_kernel(installation, options.kernel.empty() ? stored.kernel.path : options.kernel);
  if (!options.sanitizer.empty()) replay.reported = watch(installation, source, options);
  const KernelUnderTest under_test = load_kernel(
      source, build_kernel(installation, source, device, options.instrumentation), device, *schema);
  Trial trial(schema, *under_test.kernel,
              {.reported = replay.reported, .race_build = under_test.race_build});
  replay.result = trial.run(replay.c, std::move(call.inputs));
  replay.same_outputs = same_outputs(stored, replay.result.primary.outputs);
  if (replay.result.outcome == TrialOutcome::violation) {
    replay.reproduced =
        make_reproducer(replay.c, stored.limits, replay.result, under_test.identity, device.text());
    add_faults(replay.reproduced.evidence, replay.reported);
    replay.same_gate = replay.reproduced.gate == stored.gate;
  } else if (replay.result.outcome == TrialOutcome::undecided) {
    replay.not_judged = "the oracle cannot decide it";
  } else if (!device.cuda) {
    replay.not_judged = unseen_fault(stored, options.instrumentation);
  }
  return replay;
}

}  // namespace warpfuzz
