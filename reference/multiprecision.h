// Multiprecision: level 2 of the oracle, 168 significant bits, expression templates off so that
// references compile unchanged. Slow (microseconds per operation with a transcendental); reached by
// elements that double-double leaves open, and by audits.
#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>

#include "reference/plain.h"

namespace warpfuzz {

using Multiprecision = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<168, boost::multiprecision::digit_base_2>,
    boost::multiprecision::et_off>;

// Out of line: instantiating these is slow.
template <>
struct NumberFunctions<Multiprecision> {
  static Multiprecision exp(const Multiprecision& x);
  static Multiprecision erf(const Multiprecision& x);
  static Multiprecision tanh(const Multiprecision& x);
  static Multiprecision from_decimal(const char* text);
  static Refined refined(const Multiprecision& x);
};

}  // namespace warpfuzz
