// The check functions behind the rows of the gate table, one file each, and what they share.
#pragma once

#include <initializer_list>

#include "gates/gate.h"

namespace warpfuzz {

GateResult check_run_errors(const Judgement&);          // RUN-01
GateResult check_termination(const Judgement&);         // RUN-02
GateResult check_guards(const Judgement&);              // MEM-01
GateResult check_races(const Judgement&);               // RAC-01
GateResult check_reads(const Judgement&);               // MEM-04
GateResult check_resources(const Judgement&);           // RES-02
GateResult check_residency(const Judgement&);           // RES-01
GateResult check_statelessness(const Judgement&);       // STA-01
GateResult check_batch_invariance(const Judgement&);    // INV-01
GateResult check_gradient_parity(const Judgement&);     // CMP-02
GateResult check_scan(const Judgement&);                // ORD-03
GateResult check_output_coverage(const Judgement&);     // MEM-02
GateResult check_inputs_intact(const Judgement&);       // MEM-03
GateResult check_determinism(const Judgement&);         // ORD-02
GateResult check_shape_polymorphism(const Judgement&);  // CMP-03
GateResult check_non_finite(const Judgement&);          // EXC-01
GateResult check_subnormals(const Judgement&);          // EXC-02
GateResult check_accumulator(const Judgement&);         // PRC-02
GateResult check_dtype_ladder(const Judgement&);        // PRC-01
GateResult check_summation_order(const Judgement&);     // ORD-01
GateResult check_value_parity(const Judgement&);        // CMP-01

GateResult pass();
GateResult not_applicable(std::string reason);
GateResult violation(std::string reason);
// A violation whose evidence is every offending element of the first output that has any, of the
// primary run or another.
GateResult value_violation(const Judgement& judgement, std::string reason);
GateResult value_violation(const Observation& observation, std::string reason);
std::vector<Fault> faults_of(const Observation& observation,
                             std::initializer_list<FaultKind> kinds);
// A violation if a fault of one of these kinds was seen.
GateResult fault_violation(const Observation& observation, std::initializer_list<FaultKind> kinds);
// Both runs finished, so their outputs can be compared.
bool comparable(const Observation& a, const Observation* b);
// Elements whose bits differ between two tensors of one shape.
std::vector<size_t> differing_elements(const Tensor& a, const Tensor& b);
// Whether every offending element of the primary run is of this kind.
// Whether every byte of the element still is the poison.
bool is_poison(const Tensor& tensor, size_t element, Poison poison);
// On a real device the order of threads is not ours: where the contract lets bits vary with it, the
// bits of two runs say nothing of what else differed.
bool bits_vary(const Judgement& judgement);
bool has_tag(const Schema& schema, std::string_view tag);
bool all_offences_are(const Observation& observation, OffenceKind kind);
// The control runs on coarse and on lattice values, if both were exact: the operator only adds and
// multiplies, so that nothing but lost bits can make a kernel wrong on one of them alone.
struct ExactControls {
  const Observation* coarse;
  const Observation* lattice;
};
std::optional<ExactControls> exact_controls(const Judgement& judgement);

}  // namespace warpfuzz
