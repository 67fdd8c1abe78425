// RUN-02: the call returns within its time bound, no barrier diverges, and no warp operation waits
// for a lane that has exited. No tolerance.
#include "gates/checks.h"

namespace warpfuzz {

GateResult check_termination(const Judgement& judgement) {
  return fault_violation(judgement.primary(), {FaultKind::time_limit, FaultKind::divergent_barrier,
                                               FaultKind::exit_before_barrier,
                                               FaultKind::exited_lane, FaultKind::deadlock});
}

}  // namespace warpfuzz
