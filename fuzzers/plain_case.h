// The everyday call that others start from: usual attributes, contiguous tensors, normal values.
#pragma once

#include <memory>

#include "schemas/case.h"

namespace warpfuzz {

// Axes are those of the smallest call, for the caller to set. Values are normal, or follow the
// input's first law where it has no normal one.
Case plain_case(const std::shared_ptr<const Schema>& schema, size_t dtype_combination);

// Of the schema, on the axes and attributes as they are.
bool constraints_hold(const Case& c);

}  // namespace warpfuzz
