// From a trial that ended in a violation to what is kept of it: its signature, and the reproducer
// with its evidence.
#pragma once

#include <optional>

#include "crashes/reproducer.h"
#include "crashes/signature.h"
#include "fuzzers/trial.h"

namespace warpfuzz {

Signature signature_of(const Case& c, const TrialResult& result);
std::optional<Signature> violation_signature(const Case& c, const TrialResult& result);

Reproducer make_reproducer(const Case& c, const CaseLimits& limits, const TrialResult& result,
                           const KernelIdentity& kernel, const std::string& device);

// Further faults that explain a finding; those that are there already are left out.
void add_faults(Evidence& evidence, const std::vector<Fault>& faults);

// Of a case that ended the process that ran it: no outputs, and what is known from outside.
Reproducer make_crash_reproducer(const Case& c, const CaseLimits& limits,
                                 const KernelIdentity& kernel, const std::string& device,
                                 const std::string& how_it_ended);
Signature crash_signature(const Case& c);

}  // namespace warpfuzz
