// RES-02: no launch asks for more threads, blocks, shared or tensor memory than the device has,
// whether the kernel notices the refusal or not. No tolerance.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gates/checks.h"

namespace warpfuzz {
namespace {

// What cudaGetErrorString says of such launches.
constexpr std::array<std::string_view, 4> refusals = {
    "invalid configuration argument", "invalid argument", "too many resources requested for launch",
    "too many blocks in cooperative launch"};

}  // namespace

GateResult check_resources(const Judgement& judgement) {
  const RunResult& run = judgement.primary().run;
  if (run.failed_launches == 0 || run.status == RunStatus::fault) return pass();
  if (run.message.starts_with(tensor_memory_refusal)) {
    return violation(fmt::format("{} of {} launches not made; {}", run.failed_launches,
                                 run.launches + run.failed_launches, run.message));
  }
  if (std::find(refusals.begin(), refusals.end(), run.message) == refusals.end()) return pass();
  return violation(fmt::format("{} of {} launches refused ({}); the kernel returned {}",
                               run.failed_launches, run.launches + run.failed_launches, run.message,
                               run.status == RunStatus::ok ? "WF_OK" : "an error"));
}

}  // namespace warpfuzz
