// STA-01: no result depends on earlier calls. Decided by the call with one input element changed
// while all addresses and shapes stay, right after the first, and by the first once more: what is
// wrong there and right on a kernel that was never called was remembered, by whatever key. No
// tolerance of its own.
#include "gates/checks.h"

namespace warpfuzz {

GateResult check_statelessness(const Judgement& judgement) {
  const struct {
    Probe probe;
    const char* reason;
    const Observation* before;
  } calls[] = {
      {Probe::changed_element,
       "with one input element changed and all addresses the same, the result is wrong; it is "
       "right when no call came before",
       &judgement.primary()},
      {Probe::repeated_call,
       "after a call that differs in one input element the result is wrong; it is right when no "
       "call came before",
       judgement.find(Probe::changed_element)},
  };
  bool called = false;
  for (const auto& call : calls) {
    const Observation* seen = judgement.find(call.probe);
    if (seen == nullptr || seen->run.status != RunStatus::ok) continue;
    called = true;
    if (!seen->values_differ()) continue;
    const Observation* fresh = judgement.find(Probe::fresh_state);
    // Where no kernel without a past is to be had, the bits of a call before that was right are the
    // evidence.
    const bool stale = fresh != nullptr
                           ? fresh->clean()
                           : !call.before->values_differ() && seen->outputs == call.before->outputs;
    if (stale) return value_violation(*seen, call.reason);
  }
  return called ? pass() : not_applicable("the case asks for no second call");
}

}  // namespace warpfuzz
