#include "fuzzers/call_runner.h"

#include <utility>

namespace warpfuzz {
namespace {

// Random tells most: a fault that reversing hides still has many orders to show in. Races show in
// the plain order too, which costs least.
void choose_schedule(RunOptions& options, uint32_t seed, bool race_check) {
  options.schedule_seed = seed;
  options.schedule = seed % 4 == 3 ? Schedule::reversed : Schedule::random;
  if (race_check && seed == 0) options.schedule = {};
}

}  // namespace

Observation CallRunner::run(const Case& c, std::span<const Tensor> inputs, Manner manner) {
  const Probe probe = manner.probe;
  Observation observation;
  RunOptions options;
  options.time_limit = time_limit_;
  Fill fill = nan_fill;
  uint32_t placement = 0;
  if (probe == Probe::other_poison) {
    fill = other_fill;
    placement = 1 + c.schedule_seed % 6;
  }
  if (probe == Probe::other_guards) fill.guards = Poison::other;
  if (probe == Probe::other_schedule || probe == Probe::race_check) {
    choose_schedule(options, c.schedule_seed + manner.repetition, probe == Probe::race_check);
  }
  options.fill = static_cast<uint8_t>(fill.outputs);
  options.meanwhile = std::move(manner.meanwhile);
  Kernel& kernel = manner.race_build != nullptr ? *manner.race_build : kernel_;
  image_.compose(c, inputs, kernel_.workspace_bytes(c), fill, placement);
  observation.run = kernel.run(c, image_, options);
  name_addresses(observation.run.faults);
  observation.damage = image_.find_damage(inputs);
  if (observation.run.status == RunStatus::ok) {
    for (size_t i = 0; i < c.schema->outputs.size(); ++i) {
      observation.outputs.push_back(image_.gather_output(i));
    }
  }
  return observation;
}

// Must follow the run at once: the image is reused.
void CallRunner::name_addresses(std::vector<Fault>& faults) const {
  for (Fault& fault : faults) {
    if (fault.address == 0) continue;
    const bool race =
        fault.kind == FaultKind::data_race || fault.kind == FaultKind::uninitialized_read;
    fault.message += race ? " of " : ": ";
    fault.message += image_.describe_address(reinterpret_cast<const void*>(fault.address));
  }
}

}  // namespace warpfuzz
