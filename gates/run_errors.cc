// RUN-01: no launch error, no device fault, no sanitizer report, no failed launch that the kernel
// did not notice. No tolerance.
#include <fmt/format.h>

#include "gates/checks.h"

namespace warpfuzz {

GateResult check_run_errors(const Judgement& judgement) {
  const RunResult& run = judgement.primary().run;
  GateResult result = fault_violation(judgement.primary(),
                                      {FaultKind::out_of_bounds_read, FaultKind::misaligned_access,
                                       FaultKind::undefined_behavior, FaultKind::wild_access});
  if (result.outcome == Outcome::violation) return result;
  if (run.failed_launches > 0 && run.status == RunStatus::ok) {
    return violation(fmt::format("{} of {} launches failed ({}) and the kernel returned WF_OK",
                                 run.failed_launches, run.launches + run.failed_launches,
                                 run.message));
  }
  if (run.status == RunStatus::error) {
    return violation(
        fmt::format("the kernel returned WF_ERROR ({})",
                    run.message.empty() ? "no runtime error was recorded" : run.message));
  }
  return pass();
}

}  // namespace warpfuzz
