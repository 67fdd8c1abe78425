// Number formats: bits of every element type to double and back, correctly rounded (nearest, ties
// to even) in one step. Never converts by way of another format. Uses integer arithmetic wherever a
// hardware conversion would flush subnormals or round twice. Small enough to serve seeds and gates
// as well as the oracle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/float_encoding.h"
#include "schemas/tensor.h"
#include "schemas/vocabulary.h"

namespace warpfuzz {

const FormatTraits& traits(DType dtype);

// The value of one element; `bits` in the low bytes.
double decode_element(DType dtype, uint64_t bits);
// Nearest element; integers round to nearest even and saturate (NaN: 0), booleans are value != 0.
// NaN becomes the canonical quiet NaN; float8_e4m3fn, which has no infinity, overflows to NaN.
uint64_t encode_element(DType dtype, double value);

std::vector<double> decode_tensor(const Tensor& tensor);
void decode_tensor(const Tensor& tensor, std::vector<double>& values);  // resized
void encode_tensor(std::span<const double> values, Tensor& tensor);     // dtype and shape are set

// The same on raw elements; `data` holds values.size() elements.
void decode_elements(DType dtype, std::span<const std::byte> data, std::span<double> values);
void encode_elements(DType dtype, std::span<const double> values, std::span<std::byte> data);

// Distance between neighbouring elements at |value| (subnormals: the subnormal spacing; integers:
// 1; beyond the largest finite value the spacing continues).
double unit_in_last_place(DType dtype, double value);
// Unit roundoff, 2^-precision; integers: 0.
double unit_roundoff(DType dtype);

}  // namespace warpfuzz
