// A gate is a pure check of one contract over (case, observations). Gates are listed in one table,
// most specific first: when several contracts break at once, the first row names the finding.
// A gate never runs anything: what it needs beyond the first run it names as a probe, a controlled
// experiment that changes one thing ("the same call on a tame shape"), and the trial runs it.
// Includes schemas/, reference/ and kernels/ headers only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device.h"
#include "kernels/memory_image.h"
#include "reference/oracle.h"
#include "schemas/case.h"

namespace warpfuzz {

// The runs that a judgement may rest on.
enum class Probe : uint8_t {
  primary,          // the call itself
  changed_element,  // same call, same addresses, right after the first; one input element changed
  repeated_call,    // then the first call once more
  fresh_state,      // of these two the one that was wrong, on a kernel that was never called
  other_poison,     // same call; other poison, guards, workspace contents and addresses
  other_schedule,   // same call; blocks and threads in another order
  other_guards,     // same call; other bytes in guards and in gaps between rows, nowhere else
  race_check,       // same call on the race build of the kernel, for its faults only
  lone_row,         // one position of the batch axes alone
  few_bits,         // same call; input values rounded to 7 significant bits
  tame_shape,       // other shape: every axis but the batch a power of two of at least 128
  coarse_values,    // tame shape; values so coarse that a narrow accumulator is exact on them
  lattice_values,   // tame shape; few-bit integers that are exact in the declared accumulator only
};
inline constexpr size_t probe_count = 13;
using ProbeSet = uint16_t;
constexpr ProbeSet bit(Probe probe) {
  return static_cast<ProbeSet>(1u << static_cast<unsigned>(probe));
}
std::string_view name(Probe probe);

// What one run showed.
struct Observation {
  RunResult run;
  std::vector<Tensor> outputs;
  std::vector<Damage> damage;
  std::vector<Comparison> comparisons;  // per output, against this run's own oracle
  bool exact = false;                   // all of that oracle's tolerances are 0
  bool values_differ() const;           // some output element offends
  bool violates() const;                // any fault, error, damage or offending element
  bool clean() const;  // ran, does not violate, and the oracle could judge every element
};

struct Judgement {
  const Case& c;
  std::array<std::optional<Observation>, probe_count> observations;
  // Per output: where the elements of the lone row lie in the whole call's; empty if it has no
  // batch axis.
  std::vector<std::vector<size_t>> lone_row_elements = {};
  bool has_specials = false;               // some input holds a NaN or an infinity
  bool excluded_by_preconditions = false;  // the kernel does not accept this call

  const Observation& primary() const { return *observations[0]; }
  const Observation* find(Probe probe) const {
    const auto& observation = observations[static_cast<size_t>(probe)];
    return observation ? &*observation : nullptr;
  }
};

enum class Outcome : uint8_t { pass, violation, not_applicable };

struct GateResult {
  Outcome outcome = Outcome::pass;
  std::string reason;             // violation: what broke, one sentence; not applicable: why
  size_t output = 0;              // the output concerned, where `elements` is not empty
  std::vector<size_t> elements;   // offending elements of that output, ascending
  std::vector<Offence> offences;  // details of the first of them
  std::vector<Fault> faults;
};

struct Gate {
  std::string_view id;     // "CMP-01"
  std::string_view title;  // "value parity"
  std::string_view holds;  // when it holds, one line
  ProbeSet needs;          // probes that must have run before it can accuse
  GateResult (*check)(const Judgement&);
};

// All gates, most specific first.
std::span<const Gate> gates();
const Gate* find_gate(std::string_view id);

}  // namespace warpfuzz
