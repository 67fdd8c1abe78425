// RES-01: the outputs are the work of launches on the call's stream, complete when the stream is:
// not computed on the host and copied, not left to another stream. No tolerance.
#include "gates/checks.h"

namespace warpfuzz {
namespace {

bool written(const Tensor& output) {
  for (size_t i = 0; i < static_cast<size_t>(output.size()); ++i) {
    if (!is_poison(output, i, Poison::quiet_nan)) return true;
  }
  return false;
}

}  // namespace

GateResult check_residency(const Judgement& judgement) {
  const Observation& primary = judgement.primary();
  if (primary.run.status != RunStatus::ok) return not_applicable("the call did not return WF_OK");
  if (!primary.run.launches_counted)
    return not_applicable("nobody counts what this object launches");
  if (primary.run.device_use && primary.run.device_use->left_running) {
    return violation("work on another stream was still running when the call's stream had ended");
  }
  if (primary.run.launches > 0 || primary.run.device_operations > 0) return pass();
  // A real device counts copies with one side on the host, not those that stay on it.
  if (primary.run.device_use && primary.run.device_use->host_copies == 0) return pass();
  for (const Tensor& output : primary.outputs) {
    if (written(output)) return violation("the outputs are there and no kernel was launched");
  }
  return pass();
}

}  // namespace warpfuzz
