#include <array>

#include "gates/checks.h"

namespace warpfuzz {
namespace {

constexpr ProbeSet none = 0;
constexpr ProbeSet repeats = bit(Probe::other_poison) | bit(Probe::other_schedule);
constexpr ProbeSet reads = repeats | bit(Probe::other_guards);
constexpr ProbeSet race = bit(Probe::race_check);
constexpr ProbeSet shape = bit(Probe::tame_shape);
constexpr ProbeSet sums = bit(Probe::coarse_values) | bit(Probe::lattice_values);
constexpr ProbeSet values = sums | bit(Probe::few_bits);

// Most specific first. A memory or run fault explains wrong values, so it comes before them. A race
// has both its lines and explains results that depend on the schedule or on what memory held; but
// it may itself come from a barrier that not all threads reach or a write to the wrong place. A
// controlled experiment (state, batch, shape, coarse values) explains more than "the value is
// wrong", or than the infinity that a narrow accumulator ends in.
constexpr std::array table = {
    Gate{
        "RUN-02", "termination",
        "the call returns in time; no barrier diverges, no warp operation waits for an exited lane",
        none, check_termination},
    Gate{"MEM-01", "guards", "no byte outside the outputs changed", none, check_guards},
    Gate{"RES-02", "resources", "every launch asks for what the device has", none, check_resources},
    Gate{"RUN-01", "launch and run errors", "no launch error, no fault, no sanitizer report", none,
         check_run_errors},
    Gate{"RES-01", "residency", "the outputs are the work of launches on the call's stream", none,
         check_residency},
    Gate{"MEM-03", "inputs intact", "the bytes of the inputs are unchanged", none,
         check_inputs_intact},
    Gate{"RAC-01", "races", "all conflicting accesses of different threads are ordered", race,
         check_races},
    Gate{"MEM-04", "reads", "no result depends on bytes outside the inputs", reads, check_reads},
    Gate{"MEM-02", "coverage of outputs",
         "every output element is written, whatever memory held before", repeats,
         check_output_coverage},
    Gate{"ORD-02", "determinism",
         "the same bytes give the same bits in any schedule and at any address", repeats,
         check_determinism},
    Gate{"STA-01", "statelessness", "no result depends on earlier calls", none,
         check_statelessness},
    Gate{"INV-01", "batch invariance", "a row computed alone has the bits it has inside the batch",
         none, check_batch_invariance},
    Gate{"CMP-03", "shape polymorphism", "every legal shape is accepted and right", shape,
         check_shape_polymorphism},
    Gate{"PRC-02", "accumulator precision", "the accumulator is at least the declared type", sums,
         check_accumulator},
    Gate{"EXC-01", "non-finite propagation",
         "NaN and infinities appear exactly where the operator puts them", none, check_non_finite},
    Gate{"EXC-02", "subnormals",
         "subnormals are preserved unless the contract lets them be flushed", none,
         check_subnormals},
    Gate{"PRC-01", "dtype ladder", "no dtype is computed one precision lower", values,
         check_dtype_ladder},
    Gate{"ORD-01", "summation order", "sums on an exact lattice are exact in any order", none,
         check_summation_order},
    Gate{"CMP-02", "gradient parity",
         "every element of a gradient lies within its derived tolerance of the vector-Jacobian "
         "product",
         none, check_gradient_parity},
    Gate{"ORD-03", "order-sensitive reduction",
         "every element of a scan lies within the derived tolerance of its own prefix", none,
         check_scan},
    Gate{"CMP-01", "value parity", "every element lies within its derived tolerance", none,
         check_value_parity},
};

constexpr std::array<std::string_view, probe_count> probe_names = {
    "primary",        "changed element", "repeated call", "fresh state", "other poison",
    "other schedule", "other guards",    "race check",    "lone row",    "few bits",
    "tame shape",     "coarse values",   "lattice values"};

}  // namespace

std::span<const Gate> gates() { return table; }

const Gate* find_gate(std::string_view id) {
  for (const Gate& gate : table) {
    if (gate.id == id) return &gate;
  }
  return nullptr;
}

std::string_view name(Probe probe) { return probe_names[static_cast<size_t>(probe)]; }

bool Observation::values_differ() const {
  for (const Comparison& comparison : comparisons) {
    if (!comparison.offending.empty()) return true;
  }
  return false;
}

bool Observation::clean() const {
  if (run.status != RunStatus::ok || violates()) return false;
  for (const Comparison& comparison : comparisons) {
    if (comparison.undecided > 0) return false;
  }
  return true;
}

bool Observation::violates() const {
  return run.status != RunStatus::ok || !run.faults.empty() || run.failed_launches > 0 ||
         !damage.empty() || values_differ();
}

}  // namespace warpfuzz
