// Seed cases from a schema: the product of axis boundary values, dtypes, layouts and laws, pairwise
// where the full product is large. Deterministic.
#pragma once

#include <memory>
#include <vector>

#include "schemas/case.h"

namespace warpfuzz {

// A corpus to start from: legal cases, each in the lowest size class that holds it.
std::vector<Case> boundary_cases(std::shared_ptr<const Schema> schema, const CaseLimits& limits);

}  // namespace warpfuzz
