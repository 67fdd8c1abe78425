// A gate is a pure check of one contract over (case, observations, oracle). Gates are listed in one
// table, most specific first: when several contracts break at once, the first row names the finding.
// Includes schemas/, reference/, kernels/ headers; never runs anything itself: what a gate needs
// beyond the first run it names as a probe, and the trial runs it.
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
  primary,         // the call itself
  other_poison,    // same inputs; other poison, guards and addresses
  other_schedule,  // same inputs; blocks and threads in another order
  coarse_values,   // same shapes; values so coarse that a narrow accumulator is exact on them
  tame_shape,      // same dtypes and laws; every axis a power of two of at least 128
};
inline constexpr size_t probe_count = 5;
using ProbeSet = uint8_t;  // bits 1 << Probe
constexpr ProbeSet bit(Probe probe) { return static_cast<ProbeSet>(1u << static_cast<unsigned>(probe)); }

// What one run showed.
struct Observation {
  RunResult run;
  std::vector<Tensor> outputs;
  std::vector<Damage> damage;
  std::vector<size_t> poisoned;          // per output: elements whose bytes still are the poison
  std::vector<Comparison> comparisons;   // per output, against this run's own oracle; empty on fault
  bool violates() const;                 // any fault, error status, damage or offending element
};

struct Judgement {
  const Case& c;
  const std::array<std::optional<Observation>, probe_count>& observations;
  const Oracle& oracle;
  bool excluded_by_preconditions = false;
  const Observation& primary() const { return *observations[0]; }
  const Observation* find(Probe probe) const {
    const auto& o = observations[static_cast<size_t>(probe)];
    return o ? &*o : nullptr;
  }
};

enum class Outcome : uint8_t { pass, violation, not_applicable };

struct GateResult {
  Outcome outcome = Outcome::pass;
  std::string reason;          // violation: one sentence; not applicable: why
  size_t output = 0;           // the output concerned, where there is one
  std::vector<size_t> elements;  // offending elements of that output, ascending
  std::vector<Offence> offences; // details of the first of them
  std::vector<Fault> faults;
};

struct Gate {
  std::string_view id;       // "CMP-01"
  std::string_view title;    // "value parity"
  std::string_view holds;    // one line: what must hold
  ProbeSet needs;            // probes to run before this gate can accuse (beyond the primary)
  GateResult (*check)(const Judgement&);
};

// All gates, most specific first.
std::span<const Gate> gates();
const Gate* find_gate(std::string_view id);

}  // namespace warpfuzz
