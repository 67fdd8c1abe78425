// What an expression about one call may name, beyond the axes of a schema: preconditions of kernels
// and the manifests of PTX kernels. Per call: the axes, the integer attributes, the dtype variables
// and every dtype's name (to compare them with), and for each tensor t
//   t_contiguous  0 or 1
//   t_alignment   of its first element: bytes, a power of two, at most 256
//   t_stride_0 ...  in elements, one per dimension
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schemas/case.h"

namespace warpfuzz {

std::vector<std::string> call_names(const Schema& schema);
// In the order of call_names(). The vector is cleared first: no allocation once it is large enough.
void call_values(const Case& c, std::vector<int64_t>& values);

// Strides in elements that a tensor of this shape has in its layout. A row-strided tensor pads the
// rows of its last axis.
std::vector<int64_t> layout_strides(const std::vector<int64_t>& shape, const TensorCase& tensor);

}  // namespace warpfuzz
