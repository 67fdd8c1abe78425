// The verdict on one element of a matrix product from sums over its addends, taken in double in any
// place: what reference/matmul.cc, the tracked number and the comparison decide at level 0, for
// operands without NaN, infinities and lattices. It differs in one way: sums taken in another order
// differ by their roundoff, so what depends on that is left open. All of it is constexpr and passes
// by value, but for the square root, which callers take.
#pragma once

#include <cstdint>
#include <optional>

#include "reference/product_tolerance.h"
#include "schemas/vocabulary.h"

namespace warpfuzz {

struct Contract;

struct ProductSums {
  double positive = 0;  // addends above 0
  double negative = 0;  // magnitudes of those below
  double squares = 0;
  Alignment alignment;  // of float16 operands

  constexpr void add(double x, double y) {
    const double product = x * y;  // exact: no format of an operand has more than 24 bits
    if (product > 0) {
      positive += product;
    } else {
      negative -= product;
    }
    squares += product * product;
  }
};

struct ProductExpectation {
  double value = 0;
  double error = 0;  // |value - exact| is at most this
  double tolerance = 0;
  uint8_t always = 0;    // ElementClass bits: acceptable
  uint8_t possibly = 0;  // acceptable, or so near the edge that these sums do not tell
};

struct ProductRule {
  Precision precision;
  ProductTolerance tolerance;
  FormatTraits format = {};
  OutputRounding rounding;
  double lambda = 0;
  double normal = 0;  // smallest normal float16; 0 for other operands
  double margin = 0;  // relative, between tolerances from sums in different orders

  // The first half of an expectation; the second takes the root of `var`.
  constexpr ErrorTerms terms(const ProductSums& sums) const {
    const double magnitude = sums.positive + sums.negative;
    ErrorTerms t = tolerance.terms(sums.positive - sums.negative, magnitude, sums.squares);
    if (normal > 0) sums.alignment.lose(t);
    if (magnitude != 0) {
      t.lin += tolerance.lost;
      t.b += tolerance.lost;
    }
    return t;
  }

  constexpr ProductExpectation expectation(const ProductSums& sums, const ErrorTerms& terms,
                                           double deviation) const {
    ProductExpectation x;
    x.value = sums.positive - sums.negative;
    x.error = terms.e;
    x.tolerance =
        granted(terms.lin, lambda * deviation + terms.b, precision.flush ? precision.normal : 0);
    const double magnitude = sums.positive + sums.negative;
    const double growth = 1 + tolerance.addends * precision.roundoff;
    if (magnitude_of(x.value) + x.error + x.tolerance * (1 + margin) < 0.9 * format.largest &&
        magnitude * growth < 0.9 * precision.overflow) {
      x.always = x.possibly = class_finite;
    } else if (magnitude_of(x.value) + x.error < 0x1p1000) {  // else an operand is not finite
      set_classes(x, sums);
    } else {
      x.possibly = class_any;
    }
    return x;
  }

  constexpr Decision decide(const ProductExpectation& x, double y) const {
    const uint8_t observed = class_of(y);
    if ((x.possibly & observed) == 0) return Decision::outside;
    if ((x.always & observed) == 0) return Decision::open;
    if (observed != class_finite) return Decision::inside;
    if (x.tolerance == 0) {  // every addend is 0
      return y == x.value ? Decision::inside : Decision::outside;
    }
    return warpfuzz::decide(rounding, magnitude_of(y - x.value), magnitude_of(x.value), x.error,
                            x.tolerance, margin);
  }

 private:
  // Classes change at thresholds of the sums, monotonically: those at both ends of what the sums
  // may be bracket what is acceptable.
  constexpr void set_classes(ProductExpectation& x, const ProductSums& sums) const {
    x.always = class_any;
    if (magnitude_of(x.value) <= x.error) x.always = 0;  // it may have either sign
    for (const double end : {-1.0, 1.0}) {
      const double factor = 1 + end * margin;
      const uint8_t doubt = partial_overflow(precision, tolerance.addends, sums.positive * factor,
                                             sums.negative * factor);
      for (const double shift : {-1.0, 1.0}) {
        for (const double stretch : {-1.0, 1.0}) {
          const uint8_t classes = acceptable_classes(format, x.value + shift * x.error,
                                                     x.tolerance * (1 + stretch * margin), doubt);
          x.always &= classes;
          x.possibly |= classes;
        }
      }
    }
  }
};

// Of operands whose nonzero finite magnitudes these bound. Nothing where subnormals of `a` may read
// as 0, which is not a matter of sums.
std::optional<ProductRule> product_rule(const Contract& contract, DType operands, DType output,
                                        int64_t addends, const Magnitudes& a, const Magnitudes& b);

}  // namespace warpfuzz
