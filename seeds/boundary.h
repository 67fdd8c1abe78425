// Seed cases from a schema: the product of axis boundary values, dtypes, layouts and laws, pairwise
// where the full product is large. Deterministic.
#pragma once

#include <memory>
#include <vector>

#include "schemas/case.h"

namespace warpfuzz {

std::vector<Case> boundary_cases(std::shared_ptr<const Schema> schema, const CaseLimits& limits);

}  // namespace warpfuzz
