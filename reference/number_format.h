// Number formats: bits of every element type to double and back, correctly rounded (nearest, ties to
// even) in one step. Never converts by way of another format. Uses integer arithmetic only where a
// hardware conversion would flush subnormals or round twice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schemas/tensor.h"
#include "schemas/vocabulary.h"

namespace warpfuzz {

struct FormatTraits {
  int precision;         // significant bits, the hidden one included; integers: 0
  int minimum_exponent;  // of the smallest normal: 2^minimum_exponent
  double largest;        // largest finite
  double overflow_edge;  // round-to-nearest results at or beyond this magnitude are not finite
  double smallest_normal;
  double smallest_subnormal;
  bool has_infinity;
};
const FormatTraits& traits(DType dtype);

// The value of one element; `bits` in the low bytes.
double decode_element(DType dtype, uint64_t bits);
// Nearest element; integers round to nearest even and saturate, NaN becomes the canonical quiet NaN.
uint64_t encode_element(DType dtype, double value);

std::vector<double> decode_tensor(const Tensor& tensor);
void encode_tensor(std::span<const double> values, Tensor& tensor);  // dtype and shape are set

// Distance between neighbouring elements at |value| (subnormals: the subnormal spacing).
double unit_in_last_place(DType dtype, double value);
// Unit roundoff, 2^-precision.
double unit_roundoff(DType dtype);

}  // namespace warpfuzz
