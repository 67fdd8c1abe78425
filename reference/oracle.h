// The oracle: what the outputs of one case must be. For every output element it knows the unrounded
// reference, a bound on its own error, the tolerance that the contract grants for this very input,
// and which non-finite classes are acceptable. Level 0 computes in double with error bounds; an
// element that level 0 cannot decide is recomputed in double-double, then in multiprecision.
// Algorithm freedoms that contract.slack may grant: half_probabilities (attention stores P in the
// input type), tanh_approx (the hardware's tanh), one_pass_variance (E[x^2] - E[x]^2),
// fused_exponent (exp2(fma(x, log2e, -m log2e)) even where its error is no longer small).
// Includes schemas/ only. Built uninstrumented; asserts the floating-point environment on entry.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/acceptance.h"
#include "reference/quantisation.h"
#include "schemas/case.h"
#include "schemas/tensor.h"

namespace warpfuzz {

struct OutputExpectation {
  DType dtype = DType::float32;
  std::vector<double> value;         // unrounded reference r (meaningful where class_finite)
  std::vector<double> oracle_error;  // |value - exact| is at most this
  std::vector<double> tolerance;     // before the output rounding; 0 where arithmetic is exact
  std::vector<double> certain;       // no IEEE evaluation the contract allows errs by more
  std::vector<uint8_t> allowed;      // ElementClass bits
  bool exact = false;                // all tolerances are 0: the lattice or a copying operator

  void reset(DType output_dtype, size_t elements);  // all zero, finite
};

enum class OffenceKind : uint8_t {
  value,       // finite but outside the tolerance
  non_finite,  // a class that is not allowed: NaN or infinity lost, invented or swapped
  subnormal,   // as `value`, where the reference or an input it depends on is subnormal
};

enum class OffenceStrength : uint8_t {
  marginal,  // beyond the second look by no more than chance allows: decide on redrawn values
  firm,      // beyond the second look
  certain,   // beyond what any allowed evaluation order can produce, or a matter without tolerance
};

struct Offence {
  size_t element = 0;  // row-major index
  OffenceKind kind = OffenceKind::value;
  OffenceStrength strength = OffenceStrength::firm;
  double observed = 0;
  double expected = 0;  // unrounded reference
  double low = 0;       // accepted interval
  double high = 0;
  double ratio = 0;  // error / tolerance of the second look, output rounding included
  uint8_t allowed = 0;
};

// How one observed output compares with its expectation.
struct Comparison {
  // Max over finite elements of error / tolerance; at most 1 where accepted.
  double worst_ratio = 0;
  size_t worst_element = 0;
  // Max over finite elements with a tolerance of (error - output rounding) / tolerance, at least 0:
  // the part of the tolerance that computing used.
  double worst_share = 0;
  std::vector<size_t> offending;  // all offending elements, ascending
  // Details of max_offences of them: the first, marginal ones making way for stronger ones.
  std::vector<Offence> offences;
  size_t undecided = 0;  // elements the oracle could not judge (skipped)
  size_t escalated = 0;  // elements that needed more than level 0
};
inline constexpr size_t max_offences = 64;

// What became of one observed element, for those who want all of them.
enum class ElementFate : uint8_t {
  measured,    // finite, and so is the reference
  nan,         // observed
  infinite,    // observed
  unexpected,  // finite where only other classes are allowed
  undecided,   // the oracle could not judge it
};

struct ElementError {
  ElementFate fate = ElementFate::measured;
  bool wrong = false;          // it offends
  bool has_tolerance = false;  // what follows is of elements measured
  double ulps = 0;             // |observed - unrounded reference| in units of the reference's ulp
  double ratio = 0;            // as Comparison::worst_ratio, of this element
  double share = 0;            // as Comparison::worst_share
};

struct OracleOptions {
  int minimum_level = 0;  // 1 or 2 force double-double or multiprecision for every element
  // Calls of more work (Case::work()) have only some rows evaluated, evenly spread, at least one.
  // All other elements are undecided, and so are sums over rows.
  int64_t most_work = INT64_MAX;
};

// Keeps its memory from one evaluation to the next. Not thread-safe.
class Oracle {
 public:
  Oracle();
  Oracle(const Case& c, std::span<const Tensor> inputs, const OracleOptions& options = {});
  ~Oracle();
  Oracle(Oracle&&) noexcept;
  Oracle& operator=(Oracle&&) noexcept;

  // What follows is about this call. Throws std::invalid_argument for an operator without a
  // reference.
  void evaluate(const Case& c, std::span<const Tensor> inputs, const OracleOptions& options = {});

  const OutputExpectation& expectation(size_t output) const;
  // `errors`, if given, gets one entry per element; that takes several times as long.
  Comparison compare(size_t output, const Tensor& observed,
                     std::vector<ElementError>* errors = nullptr) const;

  // Of all observed outputs of a quantised operator; nothing for other operators, or without any.
  std::optional<QuantisationError> quantisation(std::span<const Tensor> outputs) const;

  // Recomputes a few elements, which `choice` picks, in multiprecision; ends the process if one
  // breaks the oracle's own error bound (audit.h). `about` says what the call is.
  void audit(uint64_t choice, const std::string& about) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Operators that have a reference, for the completeness test.
std::vector<std::string_view> reference_names();

}  // namespace warpfuzz
