// What an honest kernel may err by in one element of a matrix product (NUMERICS.md, "Summation",
// "Underflow", "Overflow"), from the sums over its addends. All of it is constexpr and passes by
// value: the tracked number and device code that judges products too large to travel have one
// formula.
#pragma once

#include <cstdint>

#include "reference/acceptance.h"

namespace warpfuzz {

inline constexpr double u64 = 0x1p-53;          // unit roundoff of the oracle's own arithmetic
inline constexpr double first_look_lambda = 6;  // standard deviations

// Arithmetic that the contract grants, as numbers.
struct Precision {
  double roundoff = 0x1p-24;    // u of the accumulator
  double underflow = 0x1p-126;  // absolute error of a result that underflows (2^-150 if preserved)
  double normal = 0x1p-126;     // smallest normal number of the accumulator
  double overflow = 0x1.fffffep127;
  double integers = 0x1p24;  // integers up to here are exact
  bool flush = true;         // subnormals may read as 0
};

// As in a tracked row: certain bound, variance, systematic part, the oracle's own error.
struct ErrorTerms {
  double lin = 0, var = 0, b = 0, e = 0;
};

// The tolerance of an output; `spread` is lambda standard deviations and the systematic part.
constexpr double granted(double lin, double spread, double eta) {
  return lin == 0 ? 0 : (spread < lin ? spread : lin) + eta;  // a spread of NaN: lin
}

inline constexpr double tensor_core_depth = 16;  // products added at once, half inputs
constexpr double tensor_core_steps(double addends) {
  const uint64_t steps = (static_cast<uint64_t>(addends) + 15) / 16;
  return static_cast<double>(steps);
}

// Of so many addends in any order, in units of u times their magnitudes.
constexpr double addition_bound(double addends, bool half_inputs) {
  const double tensor_cores = 6 * (addends / tensor_core_depth + 1);
  return half_inputs && tensor_cores > addends ? tensor_cores : addends;
}

// What bounds the nonzero magnitudes of an operand.
struct Magnitudes {
  double smallest = 0;
  double largest = 0;
};

// Tensor cores align the products of a block by the exponents of their factors, and a subnormal
// float16 has that of the smallest normal one: what is added to such products loses more bits than
// their size lets expect. Each loses at most 2^-23 of the largest product that the exponents allow.
struct Alignment {
  double products = 0;  // that are not 0
  double largest = 0;   // magnitude of one
  double allowed = 0;   // the largest, subnormal factors raised to `normal`

  constexpr void add(double x, double y, double product, double normal) {
    if (product == 0) return;
    ++products;
    const double size = magnitude_of(product);
    if (size > largest) largest = size;
    const double raised_x = magnitude_of(x) > normal ? magnitude_of(x) : normal;
    const double raised_y = magnitude_of(y) > normal ? magnitude_of(y) : normal;
    if (raised_x * raised_y > allowed) allowed = raised_x * raised_y;
  }
  constexpr void lose(ErrorTerms& terms) const {
    if (allowed <= largest) return;
    terms.lin += products * 0x1p-23 * allowed;
    terms.b += products * 0x1p-24 * allowed;
  }
};

// What all elements of a product share.
struct ProductTolerance {
  double addends = 0;
  double roundoff = 0;
  double in_any_order = 0;  // of the magnitudes
  double drift = 0;         // of tensor cores
  double lost = 0;          // by underflow, where any product is not 0

  constexpr ProductTolerance() = default;
  // Of a row of `a` with a matrix `b`; a factor may be folded in first, which rounds.
  constexpr ProductTolerance(const Precision& p, double count, bool half_inputs, double lambda,
                             int roundings_before, const Magnitudes& a, const Magnitudes& b)
      : addends(count),
        roundoff(p.roundoff),
        in_any_order((addition_bound(count, half_inputs) + roundings_before) * p.roundoff),
        drift(half_inputs ? 1.5 * 2 * p.roundoff * tensor_core_steps(count) / lambda : 0) {
    // Underflow of products and of partial sums; subnormal matrix elements may read as 0.
    const bool products = a.smallest * b.smallest * p.roundoff < 4 * p.normal;
    const bool elements = p.flush && b.smallest < p.normal;
    lost = count * ((products ? p.underflow : 0) + (elements ? a.largest * p.normal : 0));
  }

  // r is the sum of the addends, `magnitude` that of their magnitudes; without underflow.
  constexpr ErrorTerms terms(double r, double magnitude, double squares) const {
    const double s = r * r, spread = squares - s / addends;
    ErrorTerms t;
    t.lin = in_any_order * magnitude;
    t.var = roundoff * roundoff *
                (addends * (s * (1.0 / 3) + (spread > 0 ? spread : 0) * (1.0 / 6)) + squares) +
            drift * drift * (s * (1.0 / 3) + squares * (1.0 / 6));
    t.e = (addends + 2) * u64 * magnitude;
    return t;
  }
};

// Every partial sum, in every order, lies between minus the negative and the positive addends:
// the infinities that makes acceptable, as a doubt.
constexpr uint8_t partial_overflow(const Precision& p, double addends, double positive,
                                   double negative) {
  const double growth = 1 + addends * p.roundoff;
  return static_cast<uint8_t>((positive * growth >= p.overflow ? class_positive_infinity : 0) |
                              (negative * growth >= p.overflow ? class_negative_infinity : 0));
}

}  // namespace warpfuzz
