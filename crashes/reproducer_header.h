// The JSON header of a reproducer. Doubles that JSON cannot hold are the strings "nan", "inf" and
// "-inf"; a NaN's payload is not kept (the tensors hold it). Unknown keys are ignored, so that a
// later warpfuzz may add some without a new version; known ones must be there and of their type.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "crashes/reproducer.h"

namespace warpfuzz {

std::string header_text(const Reproducer& reproducer);

// Everything but the tensors' data, which stay empty; their dtypes and shapes are set and every
// byte count fits size_t. Throws ReproducerError "<file>: header.<path>: found ..., expected ...".
Reproducer parse_header(std::string_view text, const std::string& file);

// Bytes of a tensor with this dtype and shape; all extents are non-negative. SIZE_MAX if the true
// number is too large for it.
size_t tensor_bytes(const Tensor& tensor);

}  // namespace warpfuzz
