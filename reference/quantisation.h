// How far the results of a quantised operator lie from what they stand for, as a whole: cosine
// similarity, relative L1 error and root mean square error, each beside what rounding to codes
// predicts (NUMERICS.md, "Quantised operators"). A description: the verdict is elementwise.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace warpfuzz {

// Per element, all of one length.
struct Approximation {
  std::vector<double> observed;  // what the kernel's outputs stand for
  std::vector<double> exact;
  std::vector<double> variance;  // of the error that rounding to codes makes
};

// Sums over elements of which all figures are finite; of any number of calls.
struct QuantisationError {
  size_t elements = 0;
  double product = 0;  // of observed and exact
  double observed_squares = 0;
  double exact_squares = 0;
  double exact_magnitude = 0;
  double error_magnitude = 0;
  double error_squares = 0;
  double variance = 0;

  void add(const Approximation& approximation);
  void merge(const QuantisationError& other);

  // NaN where there is nothing to divide by.
  double cosine() const;
  double relative_l1() const;
  double rmse() const;
  // What an honest kernel stays above and below.
  double least_cosine() const;
  double most_relative_l1() const;
  double most_rmse() const;
};

// "cosine 0.99998 (codes alone: at least 0.9999), relative L1 ..., RMSE ..."
std::string describe(const QuantisationError& error);

}  // namespace warpfuzz
