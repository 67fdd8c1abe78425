// Elementary functions over arrays, four lanes at a time, by glibc's libmvec. The error bound that
// the oracle relies on is stated here and checked against multiprecision by tests.
#pragma once

#include <cstddef>

namespace warpfuzz {

// |computed - exact| <= vector_function_error * |exact| + 2^-1074: 4 ulp (worst seen 2.6).
inline constexpr double vector_function_error = 0x1p-50;

void vector_exp(const double* x, double* result, size_t n);
void vector_erf(const double* x, double* result, size_t n);
void vector_tanh(const double* x, double* result, size_t n);

}  // namespace warpfuzz
