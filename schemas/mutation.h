// Structured changes of a Case: one table of mutations, a crossover, and the shrinking steps of the
// minimiser. Every result is a legal case. Deterministic for a seed.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "schemas/case.h"

namespace warpfuzz {

using Random = std::minstd_rand;

// Applies one to four mutations of the table (names are in mutation.cc).
void mutate(Case& c, Random& random, const CaseLimits& limits);

// A random legal case, uniform over dtypes, laws and size classes: the first corpus of a campaign
// and the baseline that guidance is measured against.
Case random_case(std::shared_ptr<const Schema> schema, Random& random, const CaseLimits& limits);

// Each tensor, axis and attribute taken from one of the two.
Case crossover(const Case& a, const Case& b, Random& random, const CaseLimits& limits);

// Strictly simpler variants of `c`, boldest first; empty when nothing can be made simpler. Simpler:
// smaller by a well-founded order (complexity()), so every chain of accepted steps ends.
std::vector<Case> simplifications(const Case& c);

// The order that simplifications() descends.
std::vector<uint64_t> complexity(const Case& c);

}  // namespace warpfuzz
