#include "fuzzers/history.h"

#include "fuzzers/alone.h"

namespace warpfuzz {
namespace {

constexpr std::string_view statelessness = "STA-01";
constexpr uint32_t changed_elements = 4;  // not every element changes what a kernel remembers
constexpr int attempts = 3;               // chance would not be the same so often

}  // namespace

std::optional<Reproducer> explain_by_history(const Case& c, const TrialResult& result,
                                             const Reproducer& found, const WorkerOptions& worker,
                                             const std::function<bool()>& fails_here) {
  if (result.gate->id == statelessness || result.primary.run.status != RunStatus::ok) return {};
  Case asked = c;
  for (uint32_t choice = 0; choice <= changed_elements; ++choice) {
    if (choice > 0) {
      asked.extra_runs |= static_cast<uint8_t>(ExtraRun::changed_element);
      asked.schedule_seed = choice;
    }
    AloneResult alone = run_alone(asked, worker);
    if (!alone.ended_well()) return {};
    if (!alone.finding) continue;
    if (alone.finding->gate != statelessness) return {};
    return std::move(alone.finding);
  }
  for (int i = 0; i < attempts; ++i) {
    if (!fails_here()) return {};
    const AloneResult alone = run_alone(c, worker);
    if (!alone.ended_well() || alone.finding) return {};
  }
  Reproducer explained = found;
  explained.gate = statelessness;
  explained.signature =
      Signature(c, statelessness, symptom_of(statelessness, result.finding)).text();
  explained.evidence.reason = "after the calls before it the result is wrong (" + found.gate +
                              ": " + found.evidence.reason +
                              "); in a process of its own it is right, so a replay passes";
  return explained;
}

}  // namespace warpfuzz
