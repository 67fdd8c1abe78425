// The verdict on one output: every element within its tolerance plus the output rounding, in an
// acceptable class, decided with certainty (reference/NUMERICS.md, "Verdict"). A fast pass accepts;
// whatever it does not accept is judged one by one, at rising levels, with a second look.
#pragma once

#include "reference/call.h"
#include "reference/oracle.h"
#include "reference/refinement.h"

namespace warpfuzz {

struct ComparisonTask {
  const Call& call;
  size_t output;
  const OutputExpectation& expectation;
  Refinement& refinement;
  bool elementwise;  // for the kind of an offence: element i depends on input element i alone
  int minimum_level;
  std::vector<ElementError>* errors = nullptr;  // wanted for each element
};

// `observed` has as many elements as the expectation.
Comparison compare_output(const ComparisonTask& task, std::span<const double> observed);

// The decision on one element at level 0, without a second look; y as decoded.
Decision first_look(const OutputExpectation& expected, size_t element,
                    const OutputRounding& rounding, double y);

}  // namespace warpfuzz
