#include "fuzzers/trial.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fuzzers/controls.h"
#include "fuzzers/stopwatch.h"
#include "reference/number_format.h"
#include "schemas/check.h"
#include "seeds/value_law.h"

namespace warpfuzz {
namespace {

constexpr uint32_t schedule_attempts = 8;
constexpr uint32_t tame_draws = 6;
constexpr uint64_t audit_period = 4096;  // one trial in so many has the oracle checked
constexpr std::array ill_conditioned = {ValueLaw::large_mean, ValueLaw::very_negative,
                                        ValueLaw::rising_maximum};

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

// Other values under the same laws.
void reseed(Case& c, uint32_t draw) {
  for (TensorCase& input : c.inputs) input.seed += draw * 0x9E3779B9u;
}

// Other values, and in every second draw under a law that ill-conditioned formulas do not survive.
void redraw_tame(Case& c, uint32_t draw) {
  reseed(c, draw);
  if (draw % 2 == 0) return;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (!info(c.dtype(c.schema->inputs[i])).floating) continue;
    c.inputs[i].law = ill_conditioned[draw / 2 % ill_conditioned.size()];
    c.inputs[i].pokes.clear();
  }
}

constexpr std::pair<ExtraRun, Probe> probes_of_extra_runs[] = {
    {ExtraRun::other_poison, Probe::other_poison},
    {ExtraRun::other_schedule, Probe::other_schedule},
    {ExtraRun::race_check, Probe::race_check},
    {ExtraRun::changed_element, Probe::changed_element},
    {ExtraRun::lone_row, Probe::lone_row},
};

bool accuses(const Gate& gate, const Judgement& judgement, TrialResult& result) {
  GateResult checked = gate.check(judgement);
  if (checked.outcome != Outcome::violation) return false;
  result.outcome = TrialOutcome::violation;
  result.gate = &gate;
  result.finding = std::move(checked);
  return true;
}

bool repeats_differ(const Judgement& judgement) {
  for (Probe probe : {Probe::other_poison, Probe::other_schedule}) {
    const Observation* repeat = judgement.find(probe);
    if (repeat != nullptr && repeat->outputs != judgement.primary().outputs) return true;
  }
  return false;
}

// No fault of their own, or one that only runs which watch every access show.
bool is_watched_for(const Fault& fault) {
  return fault.kind == FaultKind::data_race || fault.kind == FaultKind::uninitialized_read;
}

TrialResult excluded() {
  TrialResult result;
  result.outcome = TrialOutcome::excluded;
  return result;
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
      options_(std::move(options)),
      preconditions_(*schema_, kernel.preconditions()),
      runner_(kernel, options_.time_limit) {}

TrialResult Trial::run(Preparation& preparation) {
  WARPFUZZ_CHECK(options_.minimum_oracle_level == 0, "expectations were made at level 0, not {}",
                 options_.minimum_oracle_level);
  const Case& c = preparation.c;
  if (!preconditions_.admit(c)) return excluded();
  std::swap(oracle_, preparation.oracle);
  times_.values += preparation.values_seconds;
  times_.oracle += preparation.oracle_seconds;
  times_.kernel += preparation.kernel_seconds;
  if (!preparation.primary) {
    kernel_.reset();
    preparation.primary = observe(c, preparation.inputs, {});
  }
  expected_ = true;
  return conclude(c, std::move(preparation.inputs), std::move(*preparation.primary));
}

TrialResult Trial::run(const Case& c) {
  if (!preconditions_.admit(c)) return excluded();
  std::vector<Tensor> inputs;
  {
    const Stopwatch watch(times_.values);
    inputs = make_inputs(c);
  }
  return run(c, std::move(inputs));
}

TrialResult Trial::run(const Case& c, std::vector<Tensor> inputs) {
  kernel_.reset();
  Observation primary = run_primary(c, inputs);
  return conclude(c, std::move(inputs), std::move(primary));
}

TrialResult Trial::conclude(const Case& c, std::vector<Tensor> inputs, Observation observed) {
  TrialResult result;
  Judgement judgement{.c = c, .observations = {}};
  judgement.excluded_by_preconditions = !preconditions_.admit(c);
  note_loss(c, observed.run);
  judge(c, inputs, observed);
  Observation& primary = judgement.observations[0].emplace(std::move(observed));
  add_reported(judgement);
  if (expected_ && trials_++ % audit_period == 0) {
    const Stopwatch watch(times_.oracle);
    oracle_.audit(trials_, describe(c));
  }
  if (primary.values_differ()) judgement.has_specials = has_specials(inputs);
  if (only_marginal(primary) && !confirmed_by_redraw(c)) clear_offences(primary);

  ProbeSet asked = 0;
  for (const auto& [extra_run, probe] : probes_of_extra_runs) {
    if (asks_for(c.extra_runs, extra_run)) asked |= bit(probe);
  }
  if (primary.run.status == RunStatus::ok) run_probes(judgement, asked, inputs);
  const bool wrong = primary.values_differ() || repeats_differ(judgement);

  std::optional<Stopwatch> watch;  // probes count as what they are
  if (!wrong) watch.emplace(times_.gates);
  for (const Gate& gate : gates()) {
    if (wrong) run_probes(judgement, gate.needs, inputs);
    if (accuses(gate, judgement, result)) break;
  }
  watch.reset();

  for (const Comparison& comparison : primary.comparisons) {
    result.worst_ratio = std::max(result.worst_ratio, comparison.worst_ratio);
    result.worst_share = std::max(result.worst_share, comparison.worst_share);
    if (comparison.undecided > 0 && result.outcome == TrialOutcome::pass) {
      result.outcome = TrialOutcome::undecided;
    }
  }
  if (result.outcome == TrialOutcome::violation) {
    kernel_.resolve_positions(result.finding.faults);
    if (race_kernel_ != nullptr) race_kernel_->resolve_positions(result.finding.faults);
  }
  result.device_loss = device_loss_;
  result.inputs = std::move(inputs);
  result.primary = std::move(primary);
  return result;
}

void Trial::note_loss(const Case& c, const RunResult& run) {
  if (!run.device_lost || device_loss_) return;
  device_loss_ = {c, run.faults.empty() ? run.message : run.faults.front().message};
}

// Before what the device says of the same faults: a tool knows where they are.
void Trial::add_reported(Judgement& judgement) const {
  std::vector<Fault>& faults = judgement.observations[0]->run.faults;
  Observation watched;
  std::vector<Fault> own;
  for (const Fault& fault : options_.reported) {
    (is_watched_for(fault) ? watched.run.faults : own).push_back(fault);
  }
  faults.insert(faults.begin(), own.begin(), own.end());
  if (watched.run.faults.empty()) return;
  judgement.observations[static_cast<size_t>(Probe::race_check)] = std::move(watched);
}

// Outputs are gathered, nothing is judged yet.
Observation Trial::observe(const Case& c, const std::vector<Tensor>& inputs,
                           CallRunner::Manner manner) {
  const double oracle_seconds = times_.oracle;
  const Stopwatch watch(times_.kernel);
  Observation observation = runner_.run(c, inputs, std::move(manner));
  note_loss(c, observation.run);
  times_.kernel -= times_.oracle - oracle_seconds;  // counted as the oracle's
  return observation;
}

// What the call's outputs must be is computed while a GPU computes what they are.
Observation Trial::run_primary(const Case& c, const std::vector<Tensor>& inputs) {
  expected_ = false;
  return observe(c, inputs, {.meanwhile = [&] { expect(c, inputs); }});
}

void Trial::expect(const Case& c, const std::vector<Tensor>& inputs) {
  const Stopwatch watch(times_.oracle);
  oracle_.evaluate(c, inputs, {.minimum_level = options_.minimum_oracle_level});
  expected_ = true;
}

// Nothing if the kernel has no race build, as a prebuilt object has none.
std::optional<Observation> Trial::check_races(const Case& c, const std::vector<Tensor>& inputs) {
  if (race_kernel_ == nullptr && options_.race_build) {
    race_kernel_ = options_.race_build();
  }
  if (race_kernel_ == nullptr) return std::nullopt;
  race_kernel_->reset();
  return observe(c, inputs, {.probe = Probe::race_check, .race_build = race_kernel_});
}

// A repeat of the same call. A wrong value may come from a race: then more schedules are tried,
// until one gives other bits.
Observation Trial::repeat(const Case& c, const std::vector<Tensor>& inputs, Probe probe,
                          const Observation& primary) {
  const uint32_t attempts =
      probe == Probe::other_schedule && primary.values_differ() ? schedule_attempts : 1;
  Observation observation;
  for (uint32_t i = 0; i < attempts; ++i) {
    observation = observe(c, inputs, {.probe = probe, .repetition = i});
    if (observation.outputs != primary.outputs) break;
  }
  return observation;
}

void Trial::judge(const Case& c, const std::vector<Tensor>& inputs, Observation& observation) {
  if (observation.run.status != RunStatus::ok) return;
  if (!expected_) expect(c, inputs);
  const Stopwatch watch(times_.oracle);
  observation.exact = true;
  for (size_t i = 0; i < observation.outputs.size(); ++i) {
    observation.comparisons.push_back(oracle_.compare(i, observation.outputs[i]));
    observation.exact = observation.exact && oracle_.expectation(i).exact;
  }
}

Observation Trial::judged(const Case& c, const std::vector<Tensor>& inputs) {
  Observation observation = run_primary(c, inputs);
  judge(c, inputs, observation);
  return observation;
}

// An error a little over the tolerance is chance once in a while: it counts if two of three draws
// of the same call exceed.
bool Trial::confirmed_by_redraw(const Case& c) {
  int exceeding = 1;
  for (uint32_t draw = 1; draw <= 2; ++draw) {
    Case redrawn = c;
    reseed(redrawn, draw);
    if (judged(redrawn, make_inputs(redrawn)).values_differ()) ++exceeding;
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
      case Probe::other_guards:
        judgement.observations[i] = repeat(judgement.c, inputs, probe, judgement.primary());
        break;
      case Probe::race_check:
        judgement.observations[i] = check_races(judgement.c, inputs);
        break;
      case Probe::changed_element:
        call_again(judgement, inputs);
        break;
      case Probe::lone_row:
        compute_lone_row(judgement, inputs);
        break;
      case Probe::few_bits:
        judgement.observations[i] = judged(judgement.c, rounded(inputs));
        break;
      default:
        judgement.observations[i] = control(judgement.c, probe, inputs);
        break;
    }
  }
}

// The call with one element changed, the call again, and the first of these that is wrong on a
// kernel without a past.
void Trial::call_again(Judgement& judgement, const std::vector<Tensor>& inputs) {
  const Case& c = judgement.c;
  const auto changed = with_changed_element(c, inputs, c.schedule_seed);
  if (!changed) return;
  const auto put = [&](Probe probe, Observation observation) -> const Observation& {
    return judgement.observations[static_cast<size_t>(probe)].emplace(std::move(observation));
  };
  const std::vector<Tensor>* wrong = nullptr;
  if (put(Probe::changed_element, judged(c, *changed)).values_differ()) {
    wrong = &*changed;
  } else {
    Observation again = observe(c, inputs, {.probe = Probe::repeated_call});
    if (again.outputs != judgement.primary().outputs) {
      expected_ = false;
      judge(c, inputs, again);
    }
    if (put(Probe::repeated_call, std::move(again)).values_differ()) wrong = &inputs;
  }
  if (wrong == nullptr) return;
  if (kernel_.reset()) {
    put(Probe::fresh_state, judged(c, *wrong));
  } else if (!judgement.primary().values_differ()) {
    const std::unique_ptr<Kernel> unused = kernel_.load_again();
    if (unused != nullptr) put(Probe::fresh_state, judged_on(*unused, c, *wrong));
  }
}

Observation Trial::judged_on(Kernel& other, const Case& c, const std::vector<Tensor>& inputs) {
  Observation observation = CallRunner(other, options_.time_limit).run(c, inputs, {});
  note_loss(c, observation.run);
  expected_ = false;
  judge(c, inputs, observation);
  return observation;
}

void Trial::compute_lone_row(Judgement& judgement, const std::vector<Tensor>& inputs) {
  std::optional<LoneRow> row = lone_row(judgement.c, inputs, judgement.c.schedule_seed);
  if (!row || !preconditions_.admit(row->c)) return;
  kernel_.reset();
  judgement.observations[static_cast<size_t>(Probe::lone_row)] = judged(row->c, row->inputs);
  judgement.lone_row_elements = std::move(row->elements);
}

// "Right on a tame shape" must not be luck: other values are drawn until some are wrong.
std::optional<Observation> Trial::control(const Case& c, Probe probe,
                                          const std::vector<Tensor>& inputs) {
  std::optional<Case> changed = control_case(c, probe);
  if (!changed || !preconditions_.admit(*changed)) return std::nullopt;
  const uint32_t draws = probe == Probe::tame_shape ? tame_draws : 1;
  Observation observation;
  for (uint32_t draw = 0; draw < draws && !observation.violates(); ++draw) {
    Case drawn = *changed;
    if (draw > 0) redraw_tame(drawn, draw);
    kernel_.reset();
    std::vector<Tensor> made = make_inputs(drawn);
    // The first draw of a tame shape is of the very values that were wrong.
    if (probe == Probe::tame_shape && draw == 0) made = tiled(drawn, inputs, std::move(made));
    observation = judged(drawn, made);
  }
  return observation;
}

}  // namespace warpfuzz
