#include "fuzzers/trial.h"

#include <algorithm>
#include <cmath>

#include "fuzzers/controls.h"
#include "reference/number_format.h"
#include "seeds/value_law.h"

namespace warpfuzz {
namespace {

// Adds the seconds of its lifetime to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum), start_(std::chrono::steady_clock::now()) {}
  ~Stopwatch() {
    sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& sum_;
  std::chrono::steady_clock::time_point start_;
};

bool has_specials(const std::vector<Tensor>& inputs) {
  for (const Tensor& input : inputs) {
    if (!info(input.dtype).floating) continue;
    for (double value : decode_tensor(input)) {
      if (!std::isfinite(value)) return true;
    }
  }
  return false;
}

bool only_marginal(const Observation& observation) {
  for (const Comparison& comparison : observation.comparisons) {
    for (const Offence& offence : comparison.offences) {
      if (offence.strength != OffenceStrength::marginal) return false;
    }
  }
  return observation.values_differ();
}

void clear_offences(Observation& observation) {
  for (Comparison& comparison : observation.comparisons) {
    comparison.offending.clear();
    comparison.offences.clear();
  }
}

}  // namespace

Trial::Trial(std::shared_ptr<const Schema> schema, Kernel& kernel, TrialOptions options)
    : schema_(std::move(schema)),
      kernel_(kernel),
      options_(options),
      preconditions_(*schema_, kernel.preconditions()) {}

TrialResult Trial::run(const Case& c) {
  if (!preconditions_.admit(c)) {
    TrialResult result;
    result.outcome = TrialOutcome::excluded;
    return result;
  }
  std::vector<Tensor> inputs;
  {
    const Stopwatch watch(times_.values);
    inputs = make_inputs(c);
  }
  return run(c, std::move(inputs));
}

TrialResult Trial::run(const Case& c, std::vector<Tensor> inputs) {
  TrialResult result;
  Judgement judgement{.c = c, .observations = {}};
  judgement.excluded_by_preconditions = !preconditions_.admit(c);
  std::vector<std::string> memory_notes;
  judgement.observations[0] = observe(c, inputs, Probe::primary, &memory_notes);
  Observation& primary = *judgement.observations[0];
  judge(c, inputs, primary, &judgement);
  if (only_marginal(primary) && !confirmed_by_redraw(c)) clear_offences(primary);

  ProbeSet asked = 0;
  if (c.extra_runs & static_cast<uint8_t>(ExtraRun::other_poison))
    asked |= bit(Probe::other_poison);
  if (c.extra_runs & static_cast<uint8_t>(ExtraRun::other_schedule)) {
    asked |= bit(Probe::other_schedule);
  }
  if (primary.run.status == RunStatus::ok) run_probes(judgement, asked, inputs);

  for (const Gate& gate : gates()) {
    if (primary.values_differ()) run_probes(judgement, gate.needs, inputs);
    const Stopwatch watch(times_.gates);
    GateResult checked = gate.check(judgement);
    if (checked.outcome != Outcome::violation) continue;
    result.outcome = TrialOutcome::violation;
    result.gate = &gate;
    result.finding = std::move(checked);
    break;
  }

  for (const Comparison& comparison : primary.comparisons) {
    result.worst_ratio = std::max(result.worst_ratio, comparison.worst_ratio);
    if (comparison.undecided > 0 && result.outcome == TrialOutcome::pass) {
      result.outcome = TrialOutcome::undecided;
    }
  }
  if (result.outcome == TrialOutcome::violation) {
    kernel_.resolve_positions(result.finding.faults);
    result.memory_notes = std::move(memory_notes);
  }
  result.inputs = std::move(inputs);
  result.primary = std::move(primary);
  return result;
}

// One run of `c` as `probe` wants it; outputs are gathered, nothing is judged yet.
std::optional<Observation> Trial::observe(const Case& c, const std::vector<Tensor>& inputs,
                                          Probe probe, std::vector<std::string>* memory_notes) {
  Observation observation;
  RunOptions options;
  options.time_limit = options_.time_limit;
  Poison poison = Poison::quiet_nan;
  uint32_t placement = 0;
  if (probe == Probe::other_poison) {
    poison = Poison::other;
    placement = 1 + c.schedule_seed % 6;
  }
  if (probe == Probe::other_schedule) {
    // Random tells most: a fault that reversing hides still has many orders to show in.
    options.schedule = c.schedule_seed % 4 == 3 ? Schedule::reversed : Schedule::random;
    options.schedule_seed = c.schedule_seed;
  }
  const Stopwatch watch(times_.kernel);
  image_.compose(c, inputs, kernel_.workspace_bytes(c), poison, placement);
  observation.run = kernel_.run(c, image_, options);
  observation.damage = image_.find_damage();
  if (observation.run.status == RunStatus::ok) {
    for (size_t i = 0; i < schema_->outputs.size(); ++i) {
      observation.outputs.push_back(image_.gather_output(i));
    }
  }
  if (memory_notes != nullptr) {
    for (const Fault& fault : observation.run.faults) {
      memory_notes->push_back(
          fault.address == 0
              ? std::string()
              : image_.describe_address(reinterpret_cast<const void*>(fault.address)));
    }
  }
  return observation;
}

void Trial::judge(const Case& c, const std::vector<Tensor>& inputs, Observation& observation,
                  Judgement* judgement) {
  if (observation.run.status != RunStatus::ok) return;
  const Stopwatch watch(times_.oracle);
  const Oracle oracle(c, inputs, {.minimum_level = options_.minimum_oracle_level});
  for (size_t i = 0; i < observation.outputs.size(); ++i) {
    observation.comparisons.push_back(oracle.compare(i, observation.outputs[i]));
  }
  if (judgement == nullptr) return;
  judgement->exact = true;
  for (size_t i = 0; i < observation.outputs.size(); ++i) {
    judgement->exact = judgement->exact && oracle.expectation(i).exact;
  }
  if (observation.values_differ()) judgement->has_specials = has_specials(inputs);
}

// An error a little over the tolerance is chance once in a while: it counts if two of three draws
// of the same call exceed.
bool Trial::confirmed_by_redraw(const Case& c) {
  int exceeding = 1;
  for (uint32_t draw = 1; draw <= 2; ++draw) {
    Case redrawn = c;
    for (TensorCase& input : redrawn.inputs) input.seed += draw * 0x9E3779B9u;
    const std::vector<Tensor> inputs = make_inputs(redrawn);
    std::optional<Observation> observation = observe(redrawn, inputs, Probe::primary, nullptr);
    judge(redrawn, inputs, *observation, nullptr);
    if (observation->values_differ()) ++exceeding;
  }
  return exceeding >= 2;
}

void Trial::run_probes(Judgement& judgement, ProbeSet wanted, const std::vector<Tensor>& inputs) {
  for (size_t i = 1; i < probe_count; ++i) {
    const auto probe = static_cast<Probe>(i);
    if ((wanted & bit(probe)) == 0 || judgement.observations[i]) continue;
    switch (probe) {
      case Probe::other_poison:
      case Probe::other_schedule:
        judgement.observations[i] = observe(judgement.c, inputs, probe, nullptr);
        break;
      default:
        judgement.observations[i] = control(judgement.c, probe);
        break;
    }
  }
}

std::optional<Observation> Trial::control(const Case& c, Probe probe) {
  const std::optional<Case> changed = control_case(c, probe);
  if (!changed || !preconditions_.admit(*changed)) return std::nullopt;
  const std::vector<Tensor> inputs = make_inputs(*changed);
  std::optional<Observation> observation = observe(*changed, inputs, Probe::primary, nullptr);
  judge(*changed, inputs, *observation, nullptr);
  return observation;
}

}  // namespace warpfuzz
