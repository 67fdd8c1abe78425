// Structured changes of a Case: one table of mutations, a crossover, and the shrinking steps of the
// minimiser. Every result is a legal case. Deterministic for a seed.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "schemas/case.h"

namespace warpfuzz {

using Random = std::minstd_rand;

// Whole numbers that matter to the code under test: extents are tried at, around and at multiples
// of them.
using Constants = std::span<const int64_t>;

// Applies one to four mutations of the table, or of the constants.
void mutate(Case& c, Random& random, const CaseLimits& limits, Constants constants = {});

// A random legal case: the first corpus of a campaign and the baseline that guidance is measured
// against. Uniform over dtypes; a third of the cases has the lattice wherever it is allowed, the
// others are uniform over laws; size classes are mostly small, as in decoding. A quarter has an
// extent from the constants, where there are any.
Case random_case(std::shared_ptr<const Schema> schema, Random& random, const CaseLimits& limits,
                 Constants constants = {});

// Each tensor, axis and attribute taken from one of the two, which are of one schema.
Case crossover(const Case& a, const Case& b, Random& random, const CaseLimits& limits);

// One row of the table of mutations.
struct Mutation {
  std::string_view name;
  int weight;  // relative frequency
  // Changes the case, perhaps to an illegal one; false if it does not apply. Returns through
  // `favoured` the axis to keep when the work is too much.
  bool (*apply)(Case& c, Random& random, size_t& favoured);
};
std::span<const Mutation> mutations();

// Strictly simpler variants of `c`, boldest first; empty when nothing can be made simpler. Simpler:
// smaller by a well-founded order (complexity()), so every chain of accepted steps ends. Never of a
// higher tier than `c`, and of the same dtypes.
std::vector<Case> simplifications(const Case& c);

// The order that simplifications() descends, compared lexicographically.
std::vector<uint64_t> complexity(const Case& c);

}  // namespace warpfuzz
