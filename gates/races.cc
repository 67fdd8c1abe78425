// RAC-01: no two threads access the same bytes, one of them writing, unless barriers, fences or the
// order of launches say which comes first. Decided by a run on the race build of the kernel, which
// watches every access (kernels/simt/race). No tolerance.
#include <fmt/format.h>

#include "gates/checks.h"

namespace warpfuzz {

GateResult check_races(const Judgement& judgement) {
  const Observation* watched = judgement.find(Probe::race_check);
  if (watched == nullptr) return not_applicable("no run on a race build of the kernel");
  GateResult result = fault_violation(*watched, {FaultKind::data_race});
  if (result.outcome == Outcome::violation) {
    const Fault& race = result.faults.front();
    const bool by_thread = !race.earlier || race.earlier->in_device_code;
    result.reason = fmt::format("a {} is not ordered after the {}{}", race.message,
                                race.earlier ? race.earlier->kind : "access",
                                by_thread ? " by another thread" : "");
  }
  return result;
}

}  // namespace warpfuzz
