#include "crashes/symptom.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpfuzz {
namespace {

constexpr std::array<std::string_view, 10> symptom_names = {
    "", "value", "lost", "made", "bounds", "misaligned", "undefined", "barrier", "hang", "error"};

struct FaultSymptom {
  FaultKind kind;
  Symptom symptom;
};

// A write outside a tensor is either caught in the act or found as damage afterwards; only the
// first is a fault, so the symptom must not tell them apart: MEM-01 says it all. So do RAC-01, and
// MEM-02, which knows the line of the read or does not.
constexpr std::array<FaultSymptom, 13> fault_symptoms = {{
    {FaultKind::out_of_bounds_read, Symptom::bounds},
    {FaultKind::out_of_bounds_write, Symptom::none},
    {FaultKind::misaligned_access, Symptom::misaligned},
    {FaultKind::undefined_behavior, Symptom::undefined},
    {FaultKind::divergent_barrier, Symptom::barrier},
    {FaultKind::exit_before_barrier, Symptom::barrier},
    {FaultKind::exited_lane, Symptom::barrier},
    {FaultKind::deadlock, Symptom::hang},
    {FaultKind::time_limit, Symptom::hang},
    {FaultKind::wild_access, Symptom::bounds},
    {FaultKind::illegal_launch, Symptom::error},
    {FaultKind::data_race, Symptom::none},
    {FaultKind::uninitialized_read, Symptom::none},
}};

bool is_lost(const Offence& offence) {
  return offence.kind == OffenceKind::non_finite && (offence.allowed & class_finite) == 0;
}
bool is_made(const Offence& offence) {
  return offence.kind == OffenceKind::non_finite && !std::isfinite(offence.observed);
}

}  // namespace

std::string_view name(Symptom symptom) { return symptom_names[static_cast<size_t>(symptom)]; }

Symptom symptom_of(std::string_view gate, const GateResult& result) {
  if (!result.faults.empty()) {
    const FaultKind kind = result.faults.front().kind;
    const auto* row = std::ranges::find(fault_symptoms, kind, &FaultSymptom::kind);
    return row == fault_symptoms.end() ? Symptom::none : row->symptom;
  }
  // One fault may show as several kinds of offence at once; the order of elements must not decide.
  if (std::ranges::any_of(result.offences, is_lost)) return Symptom::non_finite_lost;
  if (std::ranges::any_of(result.offences, is_made)) return Symptom::non_finite_made;
  if (!result.offences.empty()) return Symptom::value;
  return gate == "RUN-01" ? Symptom::error : Symptom::none;
}

}  // namespace warpfuzz
